// build.mjs OUT EXAMPLES PACKAGES: the playground in the folder OUT, from the answers of the
// examples (JSON) and a folder of Python packages. It prints what it lacks.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import esbuild from "esbuild";
import { loadPyodide } from "pyodide";

const [out, examples, packages] = process.argv.slice(2).map((name) => path.resolve(name));
const here = import.meta.dirname;
const core = path.join(here, "node_modules/pyodide");
const target = path.join(out, "pyodide");
fs.mkdirSync(target, { recursive: true });
for (const name of fs.readdirSync(core)) {
  if (/^(pyodide\.mjs|pyodide\.asm\.(m?js|wasm)|pyodide-lock\.json|python_stdlib\.zip)$/.test(name)) {
    fs.copyFileSync(path.join(core, name), path.join(target, name));
  }
}
for (const name of ["index.html", "playground.css"]) {
  fs.copyFileSync(path.join(here, name), path.join(out, name));
}

// NumPy, which Pyodide gets from its own distribution, and whose hash it compares; it
// stays in the folder for the next time.
const quiet = () => {};
const pyodide = await loadPyodide({ packageCacheDir: target });
await pyodide.loadPackage("numpy", { messageCallback: quiet, errorCallback: quiet }).catch(quiet);
const numpy = fs.readdirSync(target).some((name) => /^numpy-.*\.whl$/.test(name));
if (!numpy) {
  console.log("== NOT TESTED, NumPy for WebAssembly cannot be fetched: the playground draws no graphs of edited programs");
}

// Compiled by the Python that runs them, and for good: an import looks at no source.
pyodide.FS.mkdirTree("/from");
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: packages }, "/from");
pyodide.globals.set("glue", fs.readFileSync(path.join(here, "playground.py"), "utf-8"));
pyodide.runPython(`
import compileall, pathlib, py_compile, shutil
shutil.copytree("/from", "/packages", ignore=shutil.ignore_patterns("__pycache__"))
pathlib.Path("/packages/playground.py").write_text(glue)
compileall.compile_dir(
    "/packages", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
)
shutil.make_archive("/packages", "zip", "/packages")
`);
fs.writeFileSync(path.join(out, "packages.zip"), pyodide.FS.readFile("/packages.zip"));

await esbuild.build({
  absWorkingDir: here,
  entryPoints: ["main.js", "worker.js"],
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  external: ["./pyodide/pyodide.mjs"],
  alias: { "the-examples": examples },
  define: { HAS_NUMPY: String(numpy) },
  legalComments: "linked",
});
process.exit(0);
