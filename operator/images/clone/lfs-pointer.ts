export interface LfsPointer {
  /** SHA-256 in hexadecimal. */
  oid: string;
  /** In bytes. */
  size: number;
}

export const MAX_POINTER = 1024;

/**
 * Parses the pointer that Git stores in place of a large file (git-lfs, docs/spec.md); returns undefined for any other
 * text.
 */
export function parsePointer(text: string): LfsPointer | undefined {
  if (text.length > MAX_POINTER) return undefined;
  const [version, ...lines] = text.split('\n');
  if (version !== 'version https://git-lfs.github.com/spec/v1') return undefined;
  const values = new Map(lines.filter(Boolean).map((line) => [line.split(' ')[0], line.split(' ')[1]]));
  const [, oid] = /^sha256:([0-9a-f]{64})$/.exec(values.get('oid') ?? '') ?? [];
  const size = /^\d{1,15}$/.test(values.get('size') ?? '') ? Number(values.get('size')) : undefined;
  return oid === undefined || size === undefined ? undefined : { oid, size };
}
