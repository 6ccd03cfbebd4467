/** The receivers of docs/webhooks.md, and the commands of webhooks. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ADMINISTERED, type Project } from "../support/admin.ts";
import { programCommand } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { feedProject, until, webhookOf } from "../support/store/webhooks.ts";
import { unusedPort } from "../support/processes/ports.ts";

const PAGE = await Deno.readTextFile(new URL("../../docs/webhooks.md", import.meta.url));

/** The first block of a language that has a text. */
function blockOf(language: string, text: string): string {
  const blocks = [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))];
  const found = blocks.map(([, block = ""]) => block).find((block) => block.includes(text));
  assert(found !== undefined, text);
  return found;
}

async function run(
  [program, ...args]: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await new Deno.Command(program ?? "", { args, env }).output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Runs a receiver of the page against a server: deliveries arrive, the page's curl line is believed, a wrong one not. */
async function tryReceiver(
  server: TestServer,
  command: (port: number, folder: string) => Promise<string[]>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-receiver-" });
  const port = unusedPort();
  const project: Project = await feedProject(server);
  const kvdrive = async (...words: string[]) =>
    await run(programCommand(words), {
      KVDRIVE_URL: server.origin,
      KVDRIVE_KEY: project.key,
      NO_COLOR: "1",
    });
  const url = `http://127.0.0.1:${port}/hook`;
  const made = await kvdrive("webhook", "create", project.id, url, "--name", "docs", "--json");
  assertEquals(made.code, 0, made.text);
  const { id, secret } = JSON.parse(made.text) as { id: string; secret: string };
  const [program = "", ...args] = await command(port, folder);
  const env = { WEBHOOK_SECRET: secret, PORT: String(port) };
  const receiver = new Deno.Command(program, { args, env, stdout: "null", stderr: "null" }).spawn();
  try {
    const test = ["webhook", "test", project.id, id];
    await until(async () => (await kvdrive(...test)).code === 0, "the receiver answers");
    assertStringIncludes((await kvdrive(...test)).text, "The receiver answered 204.");
    await project.drive("photos").put("cat.txt", "meow");
    const shown = await until(async () => {
      const webhook = await webhookOf(project);
      return webhook.last_delivery !== null && webhook;
    }, "delivered");
    assertEquals(shown.last_status, 204);
    assertStringIncludes((await kvdrive("webhook", "list", project.id)).text, "working");
    const script = blockOf("sh", "openssl dgst").replace("127.0.0.1:9000", `127.0.0.1:${port}`);
    assertStringIncludes((await run(["bash", "-c", script], env)).text, " 204 ");
    const other = { ...env, WEBHOOK_SECRET: `whsec_${btoa("x".repeat(32))}` };
    assertStringIncludes((await run(["bash", "-c", script], other)).text, " 401 ");
    const deleted = await kvdrive("webhook", "delete", project.id, id, "--yes");
    assertEquals(deleted.code, 0, deleted.text);
  } finally {
    receiver.kill("SIGKILL");
    await receiver.status;
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("The receivers of the documentation believe deliveries, and nothing else", async (t) => {
  const args = ["--allow-webhook", "127.0.0.1"];
  await using server = await TestServer.start({ ...ADMINISTERED, args });
  await t.step("TypeScript", async () => {
    await tryReceiver(server, async (port, folder) => {
      const source = blockOf("ts", "Deno.serve").replace("port: 9000", `port: ${port}`);
      await Deno.writeTextFile(`${folder}/receiver.ts`, source);
      return [Deno.execPath(), "run", "--no-config", "--no-lock", "-A", `${folder}/receiver.ts`];
    });
  });
  const python = await run(["python3", "--version"], {}).catch(() => undefined);
  await t.step({
    name: "Python",
    ignore: python === undefined,
    fn: async () => {
      await tryReceiver(server, async (_, folder) => {
        await Deno.writeTextFile(`${folder}/receiver.py`, blockOf("python", "hmac"));
        return ["python3", `${folder}/receiver.py`];
      });
    },
  });
});
