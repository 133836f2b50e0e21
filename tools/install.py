"""Install requirements with pip, and say in a line each what is fetched: `python tools/install.py 'numpy>=2' …`."""

import re
import subprocess
import sys

command = [
    sys.executable,
    "-m",
    "pip",
    "--disable-pip-version-check",
    "install",
    "--progress-bar",
    "off",
    *sys.argv[1:],
]
kept = []
with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
    for line in pip.stdout or ():
        kept.append(line)
        fetched = re.match(r"(?:Collecting |Processing .*/)([A-Za-z][\w.]*(?:-[A-Za-z][\w.]*)*)", line)
        if fetched or line.startswith("Installing collected"):
            print("  ", fetched[1] if fetched else "putting all of them in place", flush=True)
if pip.returncode:
    sys.exit("".join(kept) + "pip could not install what is needed: see above.")
