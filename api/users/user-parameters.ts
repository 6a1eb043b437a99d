import { z } from 'zod';

const passwordLength = { least: 10, most: 200 };
const longestEmail = 254;

/** Characters as people count them, not UTF-16 units. */
function characters(text: string): number {
  return Array.from(text).length;
}

/** Body of POST /api/user/register, contract section 4. Addresses are compared, and kept, in lower case. */
export const registerSchema = z.object({
  email: z
    .email({ pattern: z.regexes.html5Email, error: 'must be an e-mail address' })
    .max(longestEmail)
    .transform((email) => email.toLowerCase()),
  password: z
    .string()
    .refine((password) => characters(password) >= passwordLength.least && characters(password) <= passwordLength.most, {
      error: `must have ${passwordLength.least} to ${passwordLength.most} characters`,
    }),
});

/** Body of POST /api/user/login. What could never be registered is a wrong login like any other. */
export const loginSchema = z.object({ email: z.string().toLowerCase(), password: z.string() });
