import { json } from "../../http/responses/json_response.ts";
import { errors } from "../../http/http_error.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import { closed, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { administratorEndpoint, changeFailures } from "../admin/admin_call.ts";

/**
 * Returns the address of the dashboard that a code signs in to. Servers do not receive what follows the `#`.
 *
 * @param server The server's address, without a slash at its end.
 */
export function signInUrl(server: string, code: string): string {
  return `${server}/#code=${code}`;
}

/** `POST /admin/v1/sign-in-codes`: a code that signs the administrator in once. */
export const createSignInCode = administratorEndpoint({
  id: "createSignInCode",
  tag: "The server",
  summary: "Create a sign-in code",
  description:
    "Creates a code that signs one browser in to the dashboard as the administrator, within 15 minutes and once. It is " +
    "returned only in this response.",
  success: { 201: jsonResponse("The code.", "SignInCode") },
  failures: changeFailures,
  schemas: {
    SignInCode: closed({
      code: { type: "string", pattern: "^once_[A-Za-z0-9]{32}$" },
      url: { type: "string", format: "uri", description: "Opens the dashboard and signs in." },
      expires: schema("Second"),
    }),
  },
}, async ({ credential, actor, origin }, { store, basePath }) => {
  const made = await store.signIns.createCode({ hash: credential }, actor);
  // The token was renewed in the meantime.
  if (made === undefined) throw errors.unknownToken();
  const { code, expires } = made;
  return json(201, {
    code,
    url: signInUrl(origin() + basePath, code),
    expires: isoSeconds(expires),
  });
});
