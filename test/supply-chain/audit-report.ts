import { z } from 'zod';

const advisorySchema = z.looseObject({
  url: z.string(),
  title: z.string(),
  severity: z.string(),
  name: z.string(),
  range: z.string(),
});

/** What `npm audit --json` prints (auditReportVersion 2). A string in `via` names another entry. */
const reportSchema = z.looseObject({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(
    z.string(),
    z.looseObject({ via: z.array(z.union([z.string(), advisorySchema])), fixAvailable: z.unknown() }),
  ),
});

/** What it prints where the registry has no such endpoint, or cannot be asked. */
const failureSchema = z.looseObject({ message: z.string(), error: z.looseObject({}) });

/** One advisory that is known and borne for a while, and why. */
export const exceptionsSchema = z.array(
  z.strictObject({
    /** Such as https://github.com/advisories/GHSA-… */
    url: z.url(),
    reason: z.string().min(20),
    /** The day from which it has to be reconciled again. */
    until: z.iso.date(),
  }),
);
export type Exceptions = z.infer<typeof exceptionsSchema>;

export type Audit = { checked: false; why: string } | { checked: true; problems: string[] };

/** What an audit means, with the exceptions that hold on `today` (YYYY-MM-DD). @throws Error when npm says something else. */
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
