import { z } from 'zod';
import { tokenScopesSchema } from '../user-records/token-scopes.ts';
import { booleanField, emailField, nameField } from '../http/parse.ts';

const passwordLength = { min: 10, max: 200 };

/** Returns the number of Unicode characters, rather than UTF-16 units. */
function characters(text: string): number {
  return Array.from(text).length;
}

/** In UTF-8. Checked before steps that take longer for longer texts, such as normalization (NFKC). */
const maxPasswordBytes = 1024;
export const boundedPassword = z.string().refine((password) => Buffer.byteLength(password) <= maxPasswordBytes, {
  error: `must have ${maxPasswordBytes} bytes at most`,
  abort: true,
});

const passwordField = boundedPassword.refine(
  (password) => characters(password) >= passwordLength.min && characters(password) <= passwordLength.max,
  {
    error: `must have ${passwordLength.min} to ${passwordLength.max} characters`,
  },
);

const invitationField = z.string().trim().max(200);

/** Body of POST /api/user/register; `invitation` is an extension. */
export const registerSchema = z.object({
  email: emailField,
  password: passwordField,
  invitation: invitationField.optional(),
});
export type Registration = z.infer<typeof registerSchema>;

/**
 * Body of POST /api/user/login. A password that could not be registered counts as a wrong one, unless it is too long.
 */
export const loginSchema = z.object({
  email: z.string().max(maxPasswordBytes).toLowerCase(),
  password: boundedPassword,
  cookie: booleanField.default(false).meta({
    description: "Extension: also sets the login cookie; only for a page of the API's own origin.",
  }),
});
export type Login = z.infer<typeof loginSchema>;

export const passwordChangeSchema = z.object({ currentPassword: boundedPassword, newPassword: passwordField });
export type PasswordChange = z.infer<typeof passwordChangeSchema>;

/** Body of DELETE /api/user; accounts that log in only by OpenID Connect have no password. */
export const removeAccountSchema = z.object({ password: boundedPassword.optional() });

export const acceptInvitationSchema = z.object({ invitation: invitationField });

/** Body of POST /api/users. */
export const newUserSchema = z.object({ email: emailField });

/** Strict, because ignoring a misspelt restriction would create a token with more permissions than requested. */
const newScopesSchema = tokenScopesSchema.strict().refine((scopes) => Object.keys(scopes).length > 0, {
  error: 'needs one of access, groups and repositories',
});

/** Body of POST /api/user/tokens; `scopes` is an extension. */
export const newApiTokenSchema = z.object({
  name: nameField,
  expirationTime: z
    .string()
    // RFC 3339 permits a lower-case t and z, which ISO 8601 does not.
    .toUpperCase()
    .meta({ format: 'date-time' })
    .pipe(z.iso.datetime({ offset: true, error: 'must be an RFC 3339 timestamp, such as 2030-01-02T15:04:05Z' }))
    .transform((text) => new Date(text)),
  readOnly: booleanField.default(false),
  scopes: newScopesSchema.optional(),
});
export type NewApiToken = z.infer<typeof newApiTokenSchema>;

/** DELETE /api/user/tokens: `name` in the body, or in the query. */
export const apiTokenNameSchema = z.object({ name: z.string().trim().optional() });
/** For the OpenAPI document, which cannot express "in the body or the query": it requires the name in the body. */
export const apiTokenNameBodySchema = apiTokenNameSchema.meta({ required: ['name'] });
