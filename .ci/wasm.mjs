// wasm.mjs HOME [PYTEST ARGUMENT ...]: pytest on the Python in HOME, in this process.
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [home, ...rest] = process.argv.slice(2);
const module = path.resolve(home, "node_modules/pyodide/pyodide.mjs");
const { loadPyodide, version } = await import(pathToFileURL(module));

// The library as files instead of a zip: tests read its source.
const folders = {
  "/lib/python3.14": path.resolve(home, "stdlib"),
  // Under the name by which code of installed packages is known.
  "/site-packages": path.resolve(home, "packages"),
  "/project": process.cwd(),
};
const pyodide = await loadPyodide({
  env: {
    HOME: "/home/pyodide",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONHASHSEED: "0",
    PYTHONPATH: Object.keys(folders).join(":"),
  },
  fsInit: async (FS) => {
    for (const [place, root] of Object.entries(folders)) {
      FS.mkdirTree(place);
      FS.mount(FS.filesystems.NODEFS, { root }, place);
    }
  },
});
pyodide.globals.set("arguments", pyodide.toPy(rest));
process.exitCode = pyodide.runPython(`
import os, sys
print("== Python", sys.version.split()[0], "(Pyodide ${version})")
os.chdir("/project")
import pytest
int(pytest.main(arguments))
`);
