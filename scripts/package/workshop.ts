import { encodeHex } from "@std/encoding/hex";
import { join } from "@std/path/join";
import { createHash } from "node:crypto";

/** The SHA-256 of a file, in hexadecimal digits. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  for await (const piece of file.readable) hash.update(piece);
  return encodeHex(new Uint8Array(hash.digest()));
}

/**
 * Puts a finished file in its place, with its checksum beside it in the form that `sha256sum -c` reads. Who looks at any
 * moment finds the earlier file or the new one, whole; a checksum that is there is that of the file.
 */
export async function publish(made: string, folder: string, name: string): Promise<void> {
  const line = `${await sha256Of(made)}  ${name}\n`;
  const checksum = join(folder, `${name}.sha256`);
  const newChecksum = `${made}.sha256`;
  await Deno.writeTextFile(newChecksum, line);
  await removeIfThere(checksum);
  await Deno.rename(made, join(folder, name));
  await Deno.rename(newChecksum, checksum);
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Works in a folder beside the results, on the same disk as they are, which is removed in the end. */
export async function withWorkshop<T>(
  folder: string,
  work: (workshop: string) => Promise<T>,
): Promise<T> {
  await Deno.mkdir(folder, { recursive: true });
  const workshop = await Deno.makeTempDir({ dir: folder, prefix: ".making-" });
  try {
    return await work(workshop);
  } finally {
    await Deno.remove(workshop, { recursive: true });
  }
}
