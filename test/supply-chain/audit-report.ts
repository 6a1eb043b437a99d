import { z } from 'zod';

const advisorySchema = z.looseObject({
  url: z.string(),
  title: z.string(),
  severity: z.string(),
  name: z.string(),
  range: z.string(),
});

/** Output of `npm audit --json` (auditReportVersion 2). A string in `via` names another entry. */
const reportSchema = z.looseObject({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(
    z.string(),
    z.looseObject({ via: z.array(z.union([z.string(), advisorySchema])), fixAvailable: z.unknown() }),
  ),
});

/** Output if the registry has no such endpoint, or cannot be reached. */
const failureSchema = z.looseObject({ message: z.string(), error: z.looseObject({}) });

/** A known advisory that is accepted for some time, with the reason. */
export const exceptionsSchema = z.array(
  z.strictObject({
    /** Such as https://github.com/advisories/GHSA-… */
    url: z.url(),
    reason: z.string().min(20),
    /** The day from which it must be assessed again. */
    until: z.iso.date(),
  }),
);
export type Exceptions = z.infer<typeof exceptionsSchema>;

export type Audit = { checked: false; why: string } | { checked: true; problems: string[] };

/**
 * Returns the result of an audit, with the exceptions valid on `today` (YYYY-MM-DD).
 * @throws Error for other output of npm
 */
export function judge(output: string, exceptions: Exceptions, today: string): Audit {
  const parsed: unknown = JSON.parse(output);
  const failure = failureSchema.safeParse(parsed);
  if (failure.success) return { checked: false, why: failure.data.message };
  const { vulnerabilities } = reportSchema.parse(parsed);
  const advisories = Object.values(vulnerabilities).flatMap(({ via }) => via.filter((one) => typeof one !== 'string'));
  const byUrl = new Map(advisories.map((advisory) => [advisory.url, advisory]));
  const problems = exceptions.flatMap(({ url, until }) => {
    if (!byUrl.has(url)) return [`the exception ${url} is not needed any more: take it out`];
    return until <= today ? [`the exception ${url} expired on ${until}. Review it`] : [];
  });
  const excepted = new Set(exceptions.map(({ url }) => url));
  for (const { url, name, range, severity, title } of byUrl.values()) {
    if (!excepted.has(url)) problems.push(`${name} ${range}: ${severity}: ${title} (${url})`);
  }
  return { checked: true, problems };
}
