import type { Schemas } from "../core/api.ts";

/**
 * Returns the variables that S3 clients read a key from, one a line.
 *
 * @param endpoint The address of S3; `null` if the server has it turned off.
 */
export function s3Settings(
  { access_key_id, secret_access_key }: Pick<
    Schemas["NewS3Key"],
    "access_key_id" | "secret_access_key"
  >,
  endpoint: string | null,
): string {
  return [
    ...(endpoint === null ? [] : [`AWS_ENDPOINT_URL_S3=${endpoint}`]),
    `AWS_ACCESS_KEY_ID=${access_key_id}`,
    `AWS_SECRET_ACCESS_KEY=${secret_access_key}`,
  ].join("\n");
}
