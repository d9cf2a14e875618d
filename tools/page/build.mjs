// Bundles Observable Plot and the licences of all that went into the bundle.
import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const vendor = join(here, "../../src/turncurve/report/page/vendor");
const result = await build({
  absWorkingDir: here,
  entryPoints: ["plot.mjs"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "Plot",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  banner: { js: "/* Observable Plot and parts of d3; licences: see LICENSE-plot.txt */" },
  metafile: true,
  write: false,
});

/** Names of the packages that have at least one byte in the bundle. */
function bundled(metafile) {
  const [output] = Object.values(metafile.outputs);
  const names = Object.entries(output.inputs)
    .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && path.startsWith("node_modules/"))
    .map(([path]) => path.slice("node_modules/".length).split("/"))
    .map(([first, second]) => (first.startsWith("@") ? `${first}/${second}` : first));
  return [...new Set(names)].sort();
}

function licence(name) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file || !existsSync(join(folder, file))) throw new Error(`${name}: no licence file`);
  const text = readFileSync(join(folder, file), "utf8").replace(/\r\n/g, "\n").trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}

mkdirSync(vendor, { recursive: true });
const names = bundled(result.metafile);
writeFileSync(join(vendor, "plot.min.js"), result.outputFiles[0].contents);
writeFileSync(join(vendor, "LICENSE-plot.txt"), names.map(licence).join(`\n${"-".repeat(72)}\n\n`));
console.log(`${result.outputFiles[0].contents.length} bytes from ${names.join(", ")}`);
