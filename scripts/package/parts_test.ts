import { assert, assertEquals } from "@std/assert";
import { filesBelow, findParts, isPart, ROOT } from "./parts.ts";

Deno.test("The dashboard's bundle and the workers are parts of the program; tests, types and what was bundled are not", async () => {
  const { included } = await findParts();
  assert(included.includes("src/dashboard/dist/"), included.join());
  assert(included.includes("src/store/maintenance/compact_worker.ts"), included.join());
  const parts = (await filesBelow(ROOT, "src")).filter(isPart);
  assert(parts.includes("src/dashboard/dist/main.js"), parts.join());
  const others = /_test\.ts$|\.d\.ts$|test_support|^src\/dashboard\/(?!dist\/)/;
  assertEquals(parts.filter((path) => others.test(path)), []);
});

Deno.test("Every worker that a source starts is found", async () => {
  const { included } = await findParts();
  const sources = (await filesBelow(ROOT, "src")).filter((path) =>
    path.endsWith(".ts") && !path.endsWith("_test.ts")
  );
  const texts = await Promise.all(sources.map((path) => Deno.readTextFile(`${ROOT}${path}`)));
  const started = texts.join("\n").match(/new Worker\(/g)?.length ?? 0;
  const found = included.filter((path) => path.endsWith(".ts"));
  assert(started > 0 && found.length >= started, `${started} are started: ${found.join()}`);
});

Deno.test("Files named in a source are listed by their path in the project", async () => {
  const root = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    await Deno.mkdir(`${root}/src/a/b`, { recursive: true });
    const text = 'new URL("./w.ts", import.meta.url); new URL(\n"../c/", import.meta.url,\n)';
    await Deno.mkdir(`${root}/src/c`);
    await Deno.writeTextFile(`${root}/src/a/x.ts`, text);
    await Deno.writeTextFile(`${root}/src/a/x_test.ts`, 'new URL("./no.ts", import.meta.url)');
    await Deno.writeTextFile(`${root}/src/c/y_test.ts`, "");
    assertEquals(await findParts(root), {
      included: ["src/a/w.ts", "src/c/"],
      excluded: ["src/c/y_test.ts"],
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
