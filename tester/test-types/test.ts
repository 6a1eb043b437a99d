import { z } from 'zod';
import { cut } from './items.ts';
import type { Kind, Outcome, RunContext, UrlParams } from './kind.ts';

/** A test of whatever params: they are parsed where they come in, and again where they were stored. */
export interface AnyTest {
  type: string;
  description: string;
  images: boolean;
  /** JSON Schema. */
  params: object;
  /** @throws WrongParams */
  check: (params: unknown) => UrlParams;
  /** @throws WrongParams, CouldNotRun */
  run: (params: unknown, context: RunContext) => Promise<Outcome>;
}

/** What whoever wrote the params is reported: who sends them reads 2,000 characters. */
const maxFaults = 10;
const maxRefusal = 1000;

/** Params do not fit the test's schema; the message says which, and how. */
export class WrongParams extends Error {
  override name = 'WrongParams';
}

export function testOf<Params extends UrlParams>({ type, description, images, params, run }: Kind<Params>): AnyTest {
  const check = (given: unknown): Params => {
    const { data, error } = params.safeParse(given);
    if (error) throw new WrongParams(cut(error.issues.slice(0, maxFaults).map(faultOf).join('; '), maxRefusal));
    return data;
  };
  return {
    type,
    description,
    images,
    params: z.toJSONSchema(params, { io: 'input' }),
    check,
    run: (given, context) => run(check(given), context),
  };
}

const faultOf = ({ path, message }: z.core.$ZodIssue): string => `${['params', ...path].join('.')}: ${message}`;
