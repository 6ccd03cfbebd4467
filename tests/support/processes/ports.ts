/** Below the ports that the system chooses for listeners and connections. */
const FIRST = 10_000;
const COUNT = 20_000;

/** Returns a port that nothing listens on, and that no other test gets from the system meanwhile. */
export function unusedPort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
