import { administer, ADMINISTERED, PROJECTS } from "../../support/admin.ts";
import { PROJECT_ID, type ServerOptions, type TestServer } from "../../support/server.ts";

/** All files are checked all the time, and uploads meet their limit. */
export const LIMITED: ServerOptions = {
  ...ADMINISTERED,
  args: ["--scrub-every", "1s", "--max-open-uploads", "40"],
};
/** Less than what thirty names and their uploads may have. */
const MAX_BYTES = 15_000_000;
/** What is refused beyond the quota, and beyond the open uploads. */
export const LIMITS = new Set(["put 507", "part 507", "complete 507", "start 409"]);

/** Gives the project of the servers a quota. */
export async function limitProject([server]: readonly TestServer[]): Promise<void> {
  if (server === undefined) return;
  const body = { max_bytes: MAX_BYTES };
  (await administer(server, "PATCH", `${PROJECTS}/${PROJECT_ID}`, { body })).expect(200);
}
