import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import config from "../../deno.json" with { type: "json" };
import { TARGETS } from "./executable.ts";
import { findParts, ROOT } from "./parts.ts";

/** The lines of the Containerfile, each as its instruction and the words behind it. */
async function instructions(): Promise<[string, string[]][]> {
  const lines = (await Deno.readTextFile(join(ROOT, "Containerfile"))).split("\n");
  return lines.filter((line) => /^[A-Z]/.test(line)).map((line) => {
    const [name = "", ...words] = line.split(" ");
    return [name, words];
  });
}

/** What is copied from the project, as it is written there. */
async function copied(): Promise<string[]> {
  const copies = (await instructions()).filter(([name]) => name === "COPY");
  return copies.flatMap(([, words]) => words.join().includes("--from") ? [] : words.slice(0, -1));
}

Deno.test("Each file that the image is made of is there", async () => {
  const paths = await copied();
  assert(paths.length > 5);
  for (const path of paths) await Deno.stat(join(ROOT, path));
});

Deno.test("What the compiler needs is copied: the program, the configuration of its folders, the scripts", async () => {
  const paths = await copied();
  const isCopied = (path: string) =>
    paths.some((one) => path === one || path.startsWith(`${one}/`));
  const configs = config.workspace.map((folder) => join(folder, "deno.json"));
  const { included } = await findParts();
  const needed = ["main.ts", "deno.lock", "scripts/compile.ts", ...configs, ...included];
  assertEquals(needed.filter((path) => !isCopied(path)), []);
});

Deno.test("What is copied is not kept from the builder, and the rest is", async () => {
  const text = await Deno.readTextFile(join(ROOT, ".dockerignore"));
  const allowed = text.split("\n").filter((line) => line.startsWith("!")).map((one) =>
    one.slice(1)
  );
  assertEquals((await copied()).filter((path) => !allowed.includes(path)), []);
  assert(text.startsWith("*\n"));
});

Deno.test("The image runs as an unprivileged user, stops on SIGTERM and keeps its data in a volume", async () => {
  const all = await instructions();
  const last = (wanted: string) => all.findLast(([name]) => name === wanted)?.[1].join(" ");
  assertEquals(last("USER"), "10001:10001");
  assertEquals(last("STOPSIGNAL"), "SIGTERM");
  assertEquals(last("VOLUME"), '["/data"]');
  assertEquals(last("EXPOSE"), "8000 8001");
  assertEquals(last("ENTRYPOINT"), '["kvdrive"]');
  assert(last("HEALTHCHECK")?.endsWith('CMD ["kvdrive", "healthcheck"]'));
  for (const setting of ["KVDRIVE_DATA=/data", "KVDRIVE_PORT=8000", "KVDRIVE_APPS_PORT=8001"]) {
    assert(last("ENV")?.split(" ").includes(setting), setting);
  }
});

Deno.test("The image can be built for both processors", async () => {
  const text = await Deno.readTextFile(join(ROOT, "Containerfile"));
  const targets = TARGETS.filter((target) => target.includes("linux"));
  assertEquals(targets.filter((target) => !text.includes(`target=${target} `)), []);
});

Deno.test("The Compose file runs the image as that user, with its volume and its health check", async () => {
  const text = await Deno.readTextFile(join(ROOT, "compose.yaml"));
  const all = await instructions();
  const last = (wanted: string) => all.findLast(([name]) => name === wanted)?.[1].join(" ") ?? "";
  const check = JSON.stringify(["CMD", ...JSON.parse(last("HEALTHCHECK").split("CMD ")[1] ?? "")]);
  for (
    const line of [
      "dockerfile: Containerfile",
      "restart: unless-stopped",
      `user: "${last("USER")}"`,
      `- data:${JSON.parse(last("VOLUME"))[0]}`,
      `test: ${check.replaceAll(",", ", ")}`,
      ...last("EXPOSE").split(" ").map((port) => `- "127.0.0.1:${port}:${port}"`),
    ]
  ) assert(text.split("\n").some((one) => one.trim() === line), line);
});
