const domain = '@end-to-end.example';

/** Returns the e-mail address of a test account. After a killed run, the next one deletes the groups of test accounts. */
export function testAddress(name: string): string {
  return `${name}${domain}`;
}

/** Returns whether the address is that of a test account. */
export function isTestAddress(address: string): boolean {
  return address.endsWith(domain);
}
