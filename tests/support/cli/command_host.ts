/**
 * Runs commands of the program in one process, because starting a process costs ten times what most commands do. The
 * test process listens on the port named by the first argument and sends one command a line, as JSON; the second argument
 * is the module that runs them. Ends with the connection.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** A command to run. `id` tells its answer from those of others that run at the same time. */
export interface HostedCommand {
  id: number;
  args: string[];
  env: Record<string, string>;
  /** The folder that it runs in. */
  cwd: string;
}

/** How a command ended. */
export interface HostedResult {
  id: number;
  code: number;
  stdout: string;
  stderr: string;
}

interface Program {
  runCommand(args: string[], env: Record<string, string | undefined>): Promise<number>;
}

type Stream = "stdout" | "stderr";

interface Output {
  stdout: Uint8Array[];
  stderr: Uint8Array[];
}

/** Where a running command's output goes. */
const running = new AsyncLocalStorage<Output>();

/** Collects what commands write instead of writing it. */
function collect(stream: Stream): void {
  const writeSync = (bytes: Uint8Array): number => {
    const output = running.getStore();
    if (output === undefined) throw new Error("A command wrote after its end");
    output[stream].push(bytes.slice());
    return bytes.byteLength;
  };
  Object.defineProperties(Deno[stream], {
    writeSync: { value: writeSync },
    write: { value: (bytes: Uint8Array) => Promise.resolve(writeSync(bytes)) },
  });
}

async function run(program: Program, { id, args, env }: HostedCommand): Promise<HostedResult> {
  const output: Output = { stdout: [], stderr: [] };
  const code = await running.run(output, async () => {
    try {
      return await program.runCommand(args, env);
    } catch (error) {
      // As the runtime does with an error that nothing handles.
      output.stderr.push(new TextEncoder().encode(`error: Uncaught ${Deno.inspect(error)}\n`));
      return 1;
    }
  });
  return { id, code, stdout: await textOf(output.stdout), stderr: await textOf(output.stderr) };
}

async function textOf(pieces: Uint8Array[]): Promise<string> {
  return await new Blob(pieces as Uint8Array<ArrayBuffer>[]).text();
}

async function serve(connection: Deno.Conn, program: Program): Promise<void> {
  const writer = connection.writable.getWriter();
  const commands = new Set<Promise<void>>();
  let folder = "";
  let rest = "";
  for await (const text of connection.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const command: HostedCommand = JSON.parse(line);
      // The process has one folder: commands in another one end first.
      if (command.cwd !== folder) await Promise.all(commands);
      Deno.chdir(folder = command.cwd);
      const ended = run(program, command).then(async (result) => {
        commands.delete(ended);
        await writer.write(new TextEncoder().encode(`${JSON.stringify(result)}\n`));
      });
      commands.add(ended);
    }
  }
}

if (import.meta.main) {
  const [port, module = ""] = Deno.args;
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const program: Program = await import(module);
  collect("stdout");
  collect("stderr");
  await serve(connection, program);
  Deno.exit(0);
}
