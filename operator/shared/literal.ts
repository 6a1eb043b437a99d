/** Escapes text that Kubernetes would expand (`$(NAME)` and `$$`) in commands, arguments and environment values. */
export function literal(text: string): string {
  return text.replaceAll('$', () => '$$');
}
