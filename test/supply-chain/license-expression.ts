/**
 * Returns whether an SPDX license expression permits use under allowed licenses only: one of the alternatives of `OR`, and
 * all parts of `AND`, which binds tighter. An expression of another form is not allowed.
 */
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let next = 0;
  const take = (token: string): boolean => {
    if (tokens[next] !== token) return false;
    next += 1;
    return true;
  };
  function either(): boolean {
    let result = all();
    // Each operand is read, also when the result is known.
    while (take('OR')) result = all() || result;
    return result;
  }
  function all(): boolean {
    let result = one();
    while (take('AND')) result = one() && result;
    return result;
  }
  function one(): boolean {
    if (take('(')) {
      const result = either();
      return take(')') && result;
    }
    const name = tokens[next] ?? '';
    next += 1;
    return allowed.has(name);
  }
  const result = either();
  return result && next === tokens.length;
}
