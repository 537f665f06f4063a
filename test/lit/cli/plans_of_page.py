"""plans_of_page.py WEIR ARGUMENTS...: the plans that a page holds, a line for each list or entry."""

import json
import subprocess
import sys

weir, *arguments = sys.argv[1:]
page = subprocess.run([weir, "report", *arguments], capture_output=True, text=True, check=True)
start = '<script type="application/json" id="plans">'
plans, _ = json.JSONDecoder().raw_decode(page.stdout.split(start)[1])


def put(name, x):
    inner = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    if not any(isinstance(y, (dict, list)) for _, y in inner):
        print(name, json.dumps(x))
        return
    for key, y in x.items() if isinstance(x, dict) else enumerate(x):
        put(f"{name}.{key}", y)


put("plans", [{k: v for k, v in plan["plan"].items() if k != "version"} for plan in plans])
