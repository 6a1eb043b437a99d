/** Kubernetes expands `$(NAME)` and `$$` in commands, arguments and environment values; so text comes out as it went in. */
export function literal(text: string): string {
  return text.replaceAll('$', () => '$$');
}
