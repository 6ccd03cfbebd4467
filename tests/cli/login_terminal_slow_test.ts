import { assert, assertEquals, assertMatch } from "@std/assert";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { waitUntil } from "../support/cli/client.ts";
import { ProfileDesk } from "../support/cli/profiles.ts";
import { TerminalProgram } from "../support/terminal.ts";

const TYPO_AND_BACKSPACE = "x\x7f";
const KILL_LINE = "\x15";

/** Types into `kvdrive login` on a terminal, and returns its status and what the terminal showed. */
async function typeSecret(desk: ProfileDesk, keys: string): Promise<[code: number, text: string]> {
  const args = ["login", desk.server.origin];
  const program = await TerminalProgram.start(args, { columns: 200, env: desk.env });
  let text = "";
  program.onText = (piece) => text += piece;
  try {
    await waitUntil("the question", () => text.includes(`token of ${desk.server.origin}: `));
    await program.type(keys);
    return [await program.ended(), text];
  } finally {
    await program.kill();
  }
}

Deno.test("What is typed at the question of login is not shown, and can be corrected.", async () => {
  await using desk = await ProfileDesk.open();
  const keys = `wrong${KILL_LINE}${TYPO_AND_BACKSPACE}${ADMIN_TOKEN}\r`;
  const [code, text] = await typeSecret(desk, keys);
  assertEquals(code, 0, text);
  assert(!text.includes("wrong") && !text.includes(ADMIN_TOKEN), text);
  assertMatch(text, /Logged in to \S+ with the administrator's token/);
  assertMatch(await desk.text("whoami"), /the administrator of all projects/);
});

Deno.test("Ctrl-C at the question of login ends it with 130, and saves nothing.", async () => {
  await using desk = await ProfileDesk.open();
  const [code] = await typeSecret(desk, `${ADMIN_TOKEN}\x03`);
  assertEquals(code, 130);
  assert(!await desk.folder.has("config/kvdrive/profiles.json"));
});

Deno.test("Headings of tables and of the help are bold on a terminal only.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  for (const [env, isBold] of [[{ NO_COLOR: "" }, true], [{ NO_COLOR: "1" }, false]] as const) {
    for (const args of [["profile", "list"], ["help", "ls"]]) {
      const program = await TerminalProgram.start(args, {
        columns: 120,
        env: { ...desk.env, ...env, TERM: "xterm" },
      });
      let text = "";
      program.onText = (piece) => text += piece;
      assertEquals(await program.ended(), 0);
      await program.kill();
      assertEquals(text.includes("\x1b[1m"), isBold, text);
      assert(!(await desk.run(args, env)).stdout.includes("\x1b"));
    }
  }
});
