import { z } from 'zod';
import { faultWords } from '../../process/fault-words.ts';
import { cut } from './items.ts';
import type { Kind, Outcome, RunContext, UrlParams } from './kind.ts';

/** A test with untyped params, which are parsed when they arrive, and again when they are read from the store. */
export interface AnyTest {
  type: string;
  description: string;
  images: boolean;
  /** JSON Schema. */
  params: object;
  /** Checks params. @throws WrongParams */
  check: (params: unknown) => UrlParams;
  /** Runs the test. @throws WrongParams, CouldNotRun */
  run: (params: unknown, context: RunContext) => Promise<Outcome>;
}

/** Maximum number of reported faults; the response has at most 2,000 characters. */
const maxFaults = 10;
const maxRefusal = 1000;

/** The params do not match the test's schema; the message says how. */
export class WrongParams extends Error {
  override name = 'WrongParams';
}

export function testOf<Params extends UrlParams>({ type, description, images, params, run }: Kind<Params>): AnyTest {
  const check = (given: unknown): Params => {
    const { data, error } = params.safeParse(given, { error: faultWords });
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
