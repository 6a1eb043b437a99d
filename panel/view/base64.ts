/** Returns the text of base64 of UTF-8. @throws if it is not base64 */
export function decodeText(base64: string): string {
  return new TextDecoder().decode(decodeBytes(base64));
}

/** @throws if it is not base64 */
export function decodeBytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Returns a text as base64 of UTF-8. */
export function encodeText(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
