"""exitcode.py CODE COMMAND...: succeeds if the command exits with CODE."""
import subprocess
import sys

code = subprocess.run(sys.argv[2:], check=False).returncode
if code != int(sys.argv[1]):
    sys.exit(f"exit code {code}, wanted {sys.argv[1]}")
