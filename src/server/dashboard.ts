import { StaticFiles } from "../http/responses/static_files.ts";

/** The dashboard's files, which compiled and packed executables include. `deno task dashboard` builds them. */
const DASHBOARD = new URL("../dashboard/dist/", import.meta.url);

/** What is shown in place of a dashboard that is not built. The API works without it. */
const NOT_BUILT = `<!doctype html>
<html lang="en">
<title>kvdrive</title>
<h1>The dashboard is not built</h1>
<p>Run <code>deno task dashboard</code> and start the server again, or start it with <code>deno task start</code>.</p>
</html>
`;

/**
 * Loads the dashboard of a server below a path. There is none without the permission to read the program's own files, as on Deno Deploy, and in the
 * package of JSR, which has only modules.
 */
export async function loadDashboard(basePath = ""): Promise<StaticFiles> {
  if (DASHBOARD.protocol !== "file:") return StaticFiles.of(new Map());
  try {
    return await StaticFiles.load(DASHBOARD, basePath);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return StaticFiles.of(new Map());
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return StaticFiles.of(new Map([["sign_in.html", new TextEncoder().encode(NOT_BUILT)]]));
  }
}
