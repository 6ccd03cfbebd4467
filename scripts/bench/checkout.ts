import { fromFileUrl, join } from "@std/path";
import { runToEnd } from "./process.ts";
import type { Scope } from "./scope.ts";

/** A state of the program's source. */
export interface Checkout {
  /** Its folder. */
  root: string;
}

/** The state that is being worked on, and the one that it is compared with if there is one. */
export interface Checkouts {
  current: Checkout;
  other?: Checkout;
}

/** @param against A git state, which is checked out in a temporary folder. */
export async function checkoutsOf(scope: Scope, against: string | undefined): Promise<Checkouts> {
  const root = fromFileUrl(new URL("../..", import.meta.url));
  const current = { root };
  if (against === undefined) return { current };
  const folder = join(scope.folder, "against");
  const git = (args: string[]) => runToEnd(scope, "git", { args, cwd: root });
  scope.onClose(async () => {
    const remove = { args: ["worktree", "remove", "--force", folder], cwd: root };
    await new Deno.Command("git", remove).output();
  });
  await git(["worktree", "add", "--detach", folder, against]);
  return { current, other: { root: folder } };
}
