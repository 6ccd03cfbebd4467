import type { Schemas } from "../core/api.ts";

/**
 * Returns the variables that S3 clients read a key from, one a line.
 *
 * @param endpoint The address of the server for S3, if it is known.
 */
export function s3Settings(
  { access_key_id, secret_access_key }: Pick<
    Schemas["NewS3Key"],
    "access_key_id" | "secret_access_key"
  >,
  endpoint?: string,
): string {
  return [
    ...(endpoint === undefined ? [] : [`AWS_ENDPOINT_URL=${endpoint}`]),
    `AWS_ACCESS_KEY_ID=${access_key_id}`,
    `AWS_SECRET_ACCESS_KEY=${secret_access_key}`,
  ].join("\n");
}
