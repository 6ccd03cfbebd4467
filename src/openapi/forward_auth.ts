import { forCallers, TAGS } from "./info.ts";
import { path } from "./operation.ts";
import { plain } from "./responses.ts";
import { header, parameter, type Paths } from "./types.ts";

export const forwardAuthPaths: Paths = {
  "/auth/{project_id}/{app}": path({
    tag: TAGS.applications,
    security: forCallers,
    parameters: [parameter("Project"), parameter("App")],
    forPages: true,
  }, {
    get: {
      id: "mayEnter",
      summary: "Ask whether a caller is let in",
      description:
        "For a proxy in front of an application that asks first: nginx `auth_request`, Caddy `forward_auth`, " +
        "Traefik `ForwardAuth`. It passes on the headers of the caller's request. An application that does not " +
        "exist is answered like a protected one, unless a key of the project is shown.",
      parameters: [parameter("CallerMethod")],
      success: {
        204: plain("The caller is let in.", {
          "Cache-Control": header("NoStore"),
          "X-Auth-Key-Name": header("KeyName"),
        }),
      },
      failures: {
        NotLetIn:
          "Access control is on, and the caller shows no key of this application and is not its owner; or there is no such application.",
        NotFound: "The key is one of the project, which has no such application.",
      },
    },
  }),
};
