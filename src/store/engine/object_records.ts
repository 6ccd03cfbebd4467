/** A checksum of a file that its sender chose, as S3 defines it. */
export interface ObjectChecksum {
  algorithm: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256";
  /** Base64; of a composite one followed by "-" and the number of parts. */
  value: string;
  /** `COMPOSITE`: the checksum of the checksums of the parts. */
  type: "FULL_OBJECT" | "COMPOSITE";
}

/**
 * What S3 callers keep with a file. The caller of the store limits it: 2 KB of user metadata and 4 KB of headers, as
 * listing a drive reads every record.
 */
export interface ObjectMetadata {
  /** By name in lower case: cache-control, content-disposition, content-encoding, content-language, expires. */
  headers?: Record<string, string>;
  /** User metadata, without `x-amz-meta-`, in lower case. */
  user?: Record<string, string>;
}
