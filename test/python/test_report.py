"""Pages and traces of plans: the numbers, without a browser, then the pages in one."""

import functools
import itertools
import json
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import weir
from browsers import browser  # noqa: F401, a fixture
from page_programs import COMMAND, DEVICES, FUNCTIONS, PLANS, PROGRAMS, devices_page, floats, held, report, text_of


def plan_in(page):
    return json.loads(PLANS.search(page)[1])[0]["plan"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")

    @functools.cache
    def of(name):
        return held(folder, name)

    return of


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    return devices_page(tmp_path_factory.mktemp("devices"))


def live(program):
    """By step, what spans of temporaries hold."""
    change = np.zeros(len(program["steps"]) + 1, np.int64)
    for hold, _, _, _, size, first, last in program["spans"]:
        assert 0 <= first <= last < len(program["steps"])
        if hold == 2:
            change[first] += size
            change[last + 1] -= size
    return np.cumsum(change)[:-1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_live_comes_up_to_the_peak_and_not_above(reports, name):
    plan = plan_in(reports(name)[0].read_text())
    assert [p["when"] for p in plan["programs"]][0] == "before"
    for program in plan["programs"]:
        most = int(live(program).max(initial=0))
        assert 0.9 * program["peak"]["temporaries"] <= most <= program["peak"]["temporaries"]
        held = sum(s[4] for s in program["spans"] if s[0] == 0)
        assert held == program["peak"]["arguments"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_and_texts_refer_to_what_is_there(reports, name):
    plan = plan_in(reports(name)[0].read_text())
    for program in plan["programs"]:
        nodes, boxes, edges = (program["graph"][k] for k in ("nodes", "boxes", "edges"))
        for places in [n[1:4] for n in nodes] + [b[:2] for b in boxes]:
            assert all(0 <= p < len(plan["texts"]) for p in places)
        assert all(0 <= n[5] <= len(boxes) for n in nodes)
        assert all(b[2] <= i for i, b in enumerate(boxes))
        assert all(0 <= a < len(nodes) and 0 <= b < len(nodes) for a, b, _ in edges)
        assert [n[0] for n in nodes].count(4) == 1


def test_curve_rises_towards_small_limits_and_holds_each(reports):
    curve = plan_in(reports("matvec")[0].read_text())["curve"]
    limits = [point["limit"] for point in curve]
    assert limits == sorted(limits) and len(limits) > 4
    assert all(point["peak"] <= point["limit"] for point in curve)
    assert curve[0]["time"] > curve[-1]["time"]


def test_loops_have_a_share_of_the_predicted_time(reports):
    found = 0
    for name in FUNCTIONS:
        plan = plan_in(reports(name)[0].read_text())
        around = [plan["time_after"]]  # what is left of it, by depth
        for loop in plan["loops"]:
            del around[loop["depth"] + 1 :]
            around[-1] -= loop["time"]
            assert loop["time"] >= 0 and around[-1] >= -1e-3 * plan["time_after"]
            around.append(loop["time"])
            found += loop["time"] > 0
    assert found > 4
    (loop,) = (plan := plan_in(reports("matvec")[0].read_text()))["loops"]
    assert 0.5 * plan["time_after"] < loop["time"] <= plan["time_after"]


def test_kernels_and_loops_over_segments_have_times(tmp_path):
    """Of a program that fits, of one that is split, and of a scan that runs in segments."""
    matvec = jax.jit(lambda x, v: jnp.exp(-((x[:, None] - x[None]) ** 2)) @ v)
    text = matvec.lower(floats(2000), floats(2000)).as_text()
    for limit in ["1GB", "1MB"]:
        page, _ = report(tmp_path, "kernel", text, limit, "--tile", "auto")
        plan = plan_in(page.read_text())
        (loop,) = plan["loops"]
        assert loop["kernel"] and 0 < loop["time"] <= plan["time_after"]
    plan = plan_in(report(tmp_path, "scan", text_of("scan"), "3MB")[0].read_text())
    segments = [loop for loop in plan["loops"] if loop["seed"].startswith("while")]
    assert segments and all(loop["time"] > 0 for loop in segments)


@pytest.mark.parametrize("name", PROGRAMS)
def test_traces_are_in_the_format(reports, name):
    page, trace = reports(name)
    events = json.loads(trace.read_text())["traceEvents"]
    plan, opened = plan_in(page.read_text()), {}
    for e in events:
        assert e["ph"] in "MXCbe" and e["ts"] >= 0 and isinstance(e["pid"], int)
        if e["ph"] == "X":
            assert e["dur"] > 0
        if e["ph"] == "C":
            assert all(isinstance(v, int) for v in e["args"].values())
        if e["ph"] == "b":
            assert opened.setdefault((e["cat"], e["id"]), e) is e
        if e["ph"] == "e":
            assert opened.pop((e["cat"], e["id"]))["ts"] < e["ts"]
    assert not opened
    for number, program in enumerate(plan["programs"], 1):
        ours = [e for e in events if e["pid"] == number]
        most = max((e["args"]["temporaries"] for e in ours if e["ph"] == "C"), default=0)
        assert most == live(program).max(initial=0)
        assert sum(e["ph"] == "X" for e in ours) == len(program["steps"])


# ---- from Python ----
def test_plans_save_pages_and_traces_and_show_themselves(tmp_path):
    plan = weir.plan(lambda x: jnp.exp(x[:, None] * x[None]) @ x, floats(2000), limit="1MB")
    plan.save(tmp_path / "plan.html")
    plan.save(str(tmp_path / "plan.json"))
    shown = plan_in((tmp_path / "plan.html").read_text(encoding="utf-8"))
    assert shown["peak_after"] == plan.peak_after_bytes and not shown["after_is_estimate"]
    assert json.loads((tmp_path / "plan.json").read_text())["traceEvents"]
    assert [loop["time"] for loop in shown["loops"]] == [loop.time_ns for loop in plan.loops] != [0]
    frame = plan._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and frame.count('"') < 20 and "<script" not in frame


def test_plans_for_devices_are_one_page(devices, tmp_path):
    found = json.loads(PLANS.search(devices.read_text(encoding="utf-8"))[1])
    assert [part["title"] for part in found] == [*DEVICES]
    for part, (name, answer) in zip(found, DEVICES.items()):
        assert (part["plan"]["device"], part["plan"]["answer"]) == (name, answer)
        assert part["plan"]["device_bytes"] > 10**10
    plans = weir._plan.Plans([weir.plan(jnp.sin, floats(10), limit="1MB", device="h100")] * 2)
    frame = plans._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and 'title="jit_sin on h100, h100"' in frame
    assert "<script" not in frame
    with pytest.raises(ValueError, match="of one plan"):
        plans.save(tmp_path / "plans.json")
    with pytest.raises(ValueError, match="no plan"):
        weir._plan.Plans().save(tmp_path / "none.html")
    assert weir._plan.Plans()._repr_html_().startswith("<pre>")


def test_what_ran_shows_its_table_and_is_no_page(tmp_path):
    with weir.limit("1MB"):
        jax.jit(lambda x: jnp.exp(x[:, None] * x[None]) @ x)(jnp.ones(2000))
    ran = weir.last_report()
    assert ran._repr_html_().startswith("<pre>limit")
    with pytest.raises(ValueError, match="only what weir.plan"):
        ran.save(tmp_path / "ran.html")


# ---- in a browser ----
@pytest.fixture
def opened(browser):  # noqa: F811
    """Opens a page; fails in the end if it said anything on the console or asked for a file."""
    contexts, told = [], []

    def open_(path, width=1200, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or told.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not told


def scale(page):
    return page.evaluate("(u => [u.scales.x.min, u.scales.x.max])(weir_page.charts()[0])")


def drag(page, box, from_, to):
    at = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + from_ * box["width"], at)
    page.mouse.down()
    page.mouse.move(box["x"] + to * box["width"], at, steps=4)
    page.mouse.up()


@pytest.mark.parametrize("name", PROGRAMS)
def test_hover_and_zoom(reports, opened, name):
    path, _ = reports(name)
    page, plan = opened(path), plan_in(path.read_text())
    assert page.locator("#memory .chart").count() == len(plan["programs"])
    whole, box = scale(page), page.locator("#memory .u-over").first.bounding_box()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.7 * box["height"])
    tip = page.locator(".tip").first.inner_text()
    step = int(re.search(r"step (\d+) of", tip)[1])
    assert tip.startswith(plan["texts"][plan["programs"][0]["steps"][step - 1][0]])
    drag(page, box, 0.25, 0.75)
    zoomed = scale(page)
    assert zoomed[1] - zoomed[0] < 0.8 * (whole[1] - whole[0])
    page.get_by_role("button", name="Whole schedule").click()
    assert scale(page) == whole


@pytest.mark.parametrize("name", ["attention_grad", "gpt", "case"])
def test_graph_zooms_and_moves(reports, opened, name):
    page = opened(reports(name)[0])
    svg = page.locator("#graph svg")
    svg.scroll_into_view_if_needed()
    page.locator("#graph .node").first.wait_for()
    assert page.locator("#graph .box").count() > 0
    views = [svg.get_attribute("viewBox")]
    for act in (
        lambda: page.get_by_role("button", name="zoom in").click(),
        lambda: drag(page, svg.bounding_box(), 0.5, 0.3),
        lambda: page.get_by_role("button", name="show all of the graph").click(),
    ):
        act()
        views.append(svg.get_attribute("viewBox"))
    assert all(before != after for before, after in itertools.pairwise(views))
    page.get_by_role("button", name="Before").click()
    assert page.locator("#graph .node").count() > 2


@pytest.mark.parametrize(
    "name, width, scheme", [*itertools.product(["gpt", "refused"], [360, 1200], ["light", "dark"])]
)
def test_narrow_windows_and_dark_mode(reports, opened, name, width, scheme):
    page = opened(reports(name)[0], width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light == (scheme == "light")
    assert page.evaluate("weir_page.charts()[0].width") <= width
    page.set_viewport_size({"width": 800, "height": 900})
    page.wait_for_function("weir_page.charts()[0].width > 600")


def test_devices_stand_side_by_side_and_each_shows_its_charts(devices, opened):
    page = opened(devices)
    rows = page.locator("#side-by-side tbody tr")
    assert page.locator("h1").inner_text() == "jit_gram" and rows.count() == 3
    texts = [re.sub(r"\s+", " ", text) for text in rows.all_inner_texts()]
    assert re.match(r"h100 84.9 GB fits as it is .*before [\d.]+ MB 100 MB [\d.]+ .s Shown", texts[0])
    assert re.match(r"a100-40gb 42.3 GB held with \d+ loops?, \d+ trips .*before .* MB, above after", texts[1])
    assert re.match(r"l4 24.0 GB refused; holds [\d.]+ MB .*before .* MB, above 1.00 MB – Show", texts[2])
    plans = [part["plan"] for part in json.loads(PLANS.search(devices.read_text())[1])]
    for place, (name, plan) in enumerate(zip(DEVICES, plans)):
        page.locator("#side-by-side button").nth(place).click()
        assert page.locator("#shown").inner_text() == name
        assert page.locator("#memory .chart").count() == len(plan["programs"])
        assert page.locator("pre.wall").count() == (plan["answer"] == "refused")
        assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        page.locator("#memory .u-over").first.hover()
        assert re.search(r"step \d+ of", page.locator(".tip").first.inner_text())


def test_bars_of_devices_are_on_one_scale_with_the_limit(devices, opened):
    page = opened(devices)
    plans = [part["plan"] for part in json.loads(PLANS.search(devices.read_text())[1])]
    most = max(max(p["limit"], p["peak_before"], p["peak_after"]) for p in plans)
    for place, plan in enumerate(plans):
        row = page.locator("#side-by-side tbody tr").nth(place)
        track = row.locator(".track").first.bounding_box()
        fill = row.locator(".fill").first.bounding_box()
        assert abs(fill["width"] - track["width"] * plan["peak_before"] / most) < 3
        line = row.locator(".at-limit").first.bounding_box()
        assert abs(line["x"] - track["x"] - track["width"] * plan["limit"] / most) < 3
        assert row.locator(".fill.is-over").count() == (plan["peak_before"] > plan["limit"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_devices_in_a_narrow_window(devices, opened, scheme):
    page = opened(devices, 360, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    table = page.locator("#side-by-side .scroll")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_bands_have_numbers_beside_colours(reports, opened):
    page = opened(reports("gpt")[0])
    marks = page.locator("#memory table").first.locator(".mark").all_inner_texts()
    assert marks[:3] == ["1", "2", "3"] and len(set(marks)) == len(marks)


def test_a_refusal_shows_what_stands_in_the_way(reports, opened):
    page = opened(reports("refused")[0])
    assert "set it to" in page.locator("pre.wall").inner_text()
    assert "Refused" in page.locator(".verdict").inner_text()


def test_text_of_a_program_is_never_markup(tmp_path, opened):
    hostile = r"</script><script>throw 1</script><img src=x onerror=alert(1)>\22"
    text = f"""func.func @main(%x: tensor<2000xf32>) -> tensor<2000xf32> {{
      %y = stablehlo.exponential %x : tensor<2000xf32> loc("{hostile}":3:1)
      return %y : tensor<2000xf32>
    }}"""
    page = opened(report(tmp_path, "<b>&amp;\u20ac", text, None)[0])
    assert page.locator("h1").inner_text() == "<b>&amp;\u20ac.mlir"
    page.locator("#graph svg").scroll_into_view_if_needed()
    page.locator("#graph .node").first.wait_for()
    assert "onerror" in page.locator("#graph").inner_html() and page.locator("img").count() == 0


def chain(ops):
    """A program of so many ops, whose every tenth result is read again much later."""
    lines, kept = [], ["%x"]
    for i in range(ops):
        other = kept.pop(0) if i % 10 == 9 and len(kept) > 5 else "%x"
        kind = "dot_general" if i % 3 == 0 else "add"
        last = f"%{i - 1}" if i else "%x"
        how = ", contracting_dims = [1] x [0]" if kind == "dot_general" else ""
        kinds = "(tensor<64x64xf32>, tensor<64x64xf32>) -> " if how else ""
        lines.append(f'%{i} = stablehlo.{kind} {last}, {other}{how} : {kinds}tensor<64x64xf32> loc("m.py":{i + 1}:1)')
        if i % 10 == 0:
            kept.append(f"%{i}")
    body = "\n".join(lines)
    return f"func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {{\n{body}\nreturn %{ops - 1} : tensor<64x64xf32>\n}}"


@pytest.mark.slow
@pytest.mark.parametrize("ops, most_bytes", [(1000, 10**6), (10000, 4 * 10**6)])
def test_large_programs_stay_usable(tmp_path, opened, ops, most_bytes):
    path, _ = report(tmp_path, "chain", chain(ops), "1TB")
    assert path.stat().st_size < most_bytes
    page = opened(path)
    box = page.locator("#memory .u-over").first.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert re.search(r"step [\d]+ of", page.locator(".tip").first.inner_text())
    page.locator("#graph svg").scroll_into_view_if_needed()
    page.locator("#graph .node").first.wait_for()
    nodes = plan_in(path.read_text())["programs"][0]["graph"]["nodes"]
    assert f"of {len(nodes):,} values" in page.locator("#graph").inner_text()


def test_no_smallest_limit_is_looked_for_in_large_programs(tmp_path):
    """The table under the plan then has the limit that asks for nothing, and no other."""
    source = tmp_path / "chain.mlir"
    source.write_text(chain(10000))
    command = [COMMAND, "plan", source, "--machine", "x86-64-v3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    table = done.stdout.partition("under other limits")[2].splitlines()
    assert len(table) == 3 and "smallest limit" not in done.stdout
