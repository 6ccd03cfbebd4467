import { assert, assertEquals, assertMatch } from "@std/assert";
import { ClientWorkspace, someBytes, waitUntil } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";
import { Screen, TerminalProgram } from "../support/terminal.ts";

const PART = 10 * 2 ** 20;

/** A desk on which a large file is sent; its parts from the third on are held until they are let go. */
async function sending(env: Record<string, string> = {}): Promise<Sending> {
  const desk = await ClientWorkspace.open();
  await desk.folder.write("film\n.mp4", someBytes(4 * PART));
  const proxy = Proxy.start(desk.server.origin);
  const held = Promise.withResolvers<void>();
  proxy.intercept = async (request, pass) => {
    const part = Number(new URL(request.url).searchParams.get("part"));
    if (part >= 3) await held.promise;
    return await pass();
  };
  const program = await TerminalProgram.start(["put", desk.folder.at("film\n.mp4"), "d:"], {
    columns: 100,
    env: { TERM: "xterm", ...desk.env(proxy.origin), ...env },
  });
  const screen = new Screen();
  program.onText = (text) => screen.write(text);
  return new Sending(desk, proxy, program, screen, held.resolve);
}

class Sending implements AsyncDisposable {
  constructor(
    readonly desk: ClientWorkspace,
    readonly proxy: Proxy,
    readonly program: TerminalProgram,
    readonly screen: Screen,
    readonly letGo: () => void,
  ) {}

  /** Waits until half of it has arrived. */
  async half(): Promise<void> {
    await waitUntil("half of it is there", () => /\b50% /.test(this.screen.lines.join("\n")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.kill();
    await this.proxy[Symbol.asyncDispose]();
    await this.desk[Symbol.asyncDispose]();
  }
}

Deno.test("A bar is drawn on a terminal, follows its size, and is gone at the end.", async () => {
  await using sent = await sending();
  await sent.half();
  const line = sent.screen.lines.find((one) => one.includes("50%")) ?? "";
  assertMatch(line, /^film\\n\.mp4 {2}\[#+-+\] {3}50% {2}21 MB of 42 MB/);
  assert(sent.screen.widest < 100, String(sent.screen.widest));
  await sent.program.resize(40);
  await waitUntil("it is drawn again", () => {
    const now = sent.screen.lines.find((one) => one.includes("50%"));
    return now !== undefined && now.length < 40;
  });
  sent.letGo();
  assertEquals(await sent.program.ended(), 0);
  assertEquals(sent.screen.lines.filter((one) => one !== ""), ["Sent 1 file (42 MB)"]);
});

Deno.test("Ctrl-C removes the progress bar and prints how to resume.", async () => {
  await using sent = await sending();
  await sent.half();
  await sent.program.type("\x03");
  assertEquals(await sent.program.ended(), 130);
  const left = sent.screen.lines.filter((one) => one !== "");
  assertMatch(left.join("\n"), /^kvdrive: Interrupted: run the same command again[^\n]*$/m);
  assert(!left.join("\n").includes("50%"), left.join("\n"));
});

Deno.test("Failures and messages are printed on lines of their own above the bar.", async () => {
  await using sent = await sending();
  await sent.half();
  let busy = true;
  sent.proxy.intercept = (_request, _pass) => {
    if (!busy) return Response.json({ errors: ["No more of that"] }, { status: 403 });
    busy = false;
    return new Response("", { status: 503 });
  };
  sent.letGo();
  const status = await sent.program.ended();
  // The parts that were held pass; what comes behind them fails.
  assertEquals(status, 1);
  const left = sent.screen.lines.filter((one) => one !== "");
  assertMatch(left[0] ?? "", /^kvdrive: http\S+ answered 503.* Retrying/);
  assertEquals(left.slice(1), ["kvdrive: No more of that"]);
});

Deno.test("A terminal that can draw nothing, and a pipe, get none.", async () => {
  await using sent = await sending({ TERM: "dumb" });
  sent.letGo();
  assertEquals(await sent.program.ended(), 0);
  assertEquals(sent.screen.lines.filter((one) => one !== ""), ["Sent 1 file (42 MB)"]);
  const piped = await sent.desk.run(["put", "film\n.mp4", "d:"], { env: { TERM: "xterm" } });
  assertEquals([piped.code, piped.stdout, piped.stderr], [0, "Sent 1 file (42 MB)\n", ""]);
});
