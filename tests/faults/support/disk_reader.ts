/** Holds a read transaction on a server's store in a process of its own, as a backup of a large store does. */
export class LongReader implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;

  private constructor(process: Deno.ChildProcess) {
    this.#process = process;
  }

  static async open(data: string): Promise<LongReader> {
    const code = `import { DatabaseSync } from "node:sqlite";
      const sqlite = new DatabaseSync(${JSON.stringify(`${data}/kvdrive.db`)});
      sqlite.exec("BEGIN");
      sqlite.prepare("SELECT count(*) FROM sqlite_master").all();
      console.log("reading");
      setTimeout(() => {}, 300_000);`;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["eval", code],
      stdout: "piped",
    }).spawn();
    const reader = process.stdout.getReader();
    await reader.read();
    reader.releaseLock();
    await process.stdout.cancel();
    return new LongReader(process);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
  }
}
