/**
 * The end of a list of custom resources, whose fields are in alphabetical order. Anchored at the end of the document, so
 * that nothing in an item can be mistaken for it.
 */
const atEnd = /"metadata":\{"continue":"([\w-]+)"(?:,"remainingItemCount":\d+)?,"resourceVersion":"\d+"\}\}\s*$/;
/** The start of a list of another kind, whose metadata is before its items. */
const atStart = /^\{"kind":"\w+","apiVersion":"[\w./]+","metadata":\{"resourceVersion":"\d+","continue":"([\w-]+)"/;
/** Longer than the metadata: a token contains a key of at most 320 characters. */
const metadataLength = 2000;

/**
 * Returns the token for the next page from the JSON of a list, without parsing it; undefined if it has none, or another
 * form than the API server's.
 */
export function continueTokenIn(list: string): string | undefined {
  return (atStart.exec(list.slice(0, metadataLength)) ?? atEnd.exec(list.slice(-metadataLength)))?.[1];
}
