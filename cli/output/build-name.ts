/** Returns the name of a build for people: `build 3`, or `build` before it has a number. */
export function buildName(number: number | undefined): string {
  return number === undefined ? 'build' : `build ${number}`;
}
