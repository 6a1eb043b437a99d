import { unsetAdvice } from '../own-variables.ts';
import type { SourcePosition, Problems } from '../problems.ts';
import type { VariableLookup } from '../variables.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import type { Budget } from './budget.ts';
import { interpolate, type Interpolated, InterpolationError } from './interpolation.ts';

/** Matches the values that only builds see. Only into these can `buildtime` variables be filled. */
const buildOnly = /^services(?:\.[\w-]+|\["(?:[^"\\]|\\.)*"\])\.build\.(?:args|secrets)(?![\w-])/;

/**
 * Matches values that never appear in readable objects: Coppice stores them in Secrets or not at all. Only into these can
 * secret variables be filled. Other values would be visible in the specification of a pod, an Ingress or a volume.
 */
const hidden =
  /^(?:services(?:\.[\w-]+|\["(?:[^"\\]|\\.)*"\])\.(?:environment|env_file|command|entrypoint|healthcheck\.test|labels|annotations|logging|build\.(?:args|secrets|labels)|x-coppice\.(?:seed|jobs\[\d+\])\.command)|secrets|configs|x-coppice\.tests)(?![\w-])/;

/** Matches the values that are, or start with, a path in the repository. */
const paths =
  /^(?:services(?:\.[\w-]+|\["(?:[^"\\]|\\.)*"\])\.(?:volumes|env_file|extends|build(?!\.args))|configs|secrets|include)(?![\w-])/;
/** Matches the values that are commands, which often run a shell. */
const commands =
  /^services(?:\.[\w-]+|\["(?:[^"\\]|\\.)*"\])\.(?:command|entrypoint|healthcheck\.test|x-coppice\.(?:seed|jobs\[\d+\])\.command)(?![\w-])/;
/** Matches texts that a shell, or splitting into words, reads as a single word. */
const plainWord = /^[\p{L}\p{M}\p{N}\w.,/@+=-]*$/u;
const startsWithPwd = /^\$(?:PWD|\{PWD\})(?=[/:]|$)/;

/** Maximum number of variables that are not set and are compared with similar names. */
const maxHints = 50;

/**
 * Fills variables into every value of one file. Does not change keys, and values of extensions other than Coppice's.
 */
export class TreeInterpolator {
  readonly #variables: VariableLookup;
  readonly #budget: Budget;
  readonly #problems: Problems;
  /** Variables that were already reported as not set, so that each is reported once. */
  readonly #unset: Set<string>;

  constructor(variables: VariableLookup, budget: Budget, problems: Problems, unset: Set<string>) {
    this.#variables = variables;
    this.#budget = budget;
    this.#problems = problems;
    this.#unset = unset;
  }

  fill(node: YamlNode): YamlNode {
    if (node.kind === 'list') return { ...node, items: node.items.map((item) => this.fill(item)) };
    if (node.kind === 'map') {
      const entries = node.entries.map((entry) =>
        isForeign(entry.key) ? entry : { ...entry, value: this.fill(entry.value) },
      );
      return { ...node, entries };
    }
    if (typeof node.value !== 'string' || this.#budget.exceedsFilledText || !node.value.includes('$')) return node;
    const { text, used, unset } = this.#interpolate(node.value, node);
    if (!this.#budget.takeFilled(text.length, node)) return node;
    for (const name of unset) this.#reportUnset(name, node);
    for (const name of used) {
      this.#checkVisibility(name, node);
      this.#checkSecrecy(name, node);
      this.#checkCommand(name, node);
    }
    return used.size === 0 ? { ...node, value: text } : { ...node, value: text, written: node.value };
  }

  #interpolate(text: string, at: SourcePosition): Interpolated {
    try {
      // $PWD is the folder of a shell, usually the file's own, to which relative paths refer.
      const folder = paths.test(at.path) && startsWithPwd.test(text) ? '.' : undefined;
      return interpolate(text, (name) => this.#variables.get(name)?.value ?? (name === 'PWD' ? folder : undefined));
    } catch (error) {
      if (!(error instanceof InterpolationError)) throw error;
      this.#problems.error(at, error.message);
      return { text: '', used: new Set(), unset: new Set() };
    }
  }

  #reportUnset(name: string, at: SourcePosition): void {
    if (this.#unset.has(name)) return;
    this.#unset.add(name);
    const advice = `set it, or write \${${name}:-DEFAULT}`;
    // Untrusted files can name thousands.
    const hint = this.#unset.size > maxHints ? advice : unsetAdvice(name, advice, this.#problems);
    this.#problems.warn(at, `the variable ${name} is not set, so it is empty: ${hint}`);
  }

  #checkVisibility(name: string, at: SourcePosition): void {
    if (this.#variables.get(name)?.visibility !== 'buildtime' || buildOnly.test(at.path)) return;
    this.#problems.error(
      at,
      `the variable ${name} is for builds only: use it in build.args or a build's secrets, or make it visible always`,
    );
  }

  #checkSecrecy(name: string, at: SourcePosition): void {
    if (this.#variables.get(name)?.secret !== true || hidden.test(at.path)) return;
    this.#problems.error(
      at,
      `the variable ${name} is secret, and Kubernetes shows this value to everybody who can read the environment: use it in environment, command, healthcheck.test, build.args, secrets or configs, or remove its secret mark`,
    );
  }

  /** The name of a branch must not become part of a script. */
  #checkCommand(name: string, at: SourcePosition): void {
    const variable = this.#variables.get(name);
    if (variable?.fromRef !== true || plainWord.test(variable.value) || !commands.test(at.path)) return;
    this.#problems.error(
      at,
      `the variable ${name} contains the name of a ref with characters that a shell interprets: let the container's shell read it, as in "$$${name}"`,
    );
  }
}

function isForeign(key: string): boolean {
  return key.startsWith('x-') && key !== 'x-coppice';
}
