import { type SourcePosition, quoted } from '../problems.ts';
import { extendsKeys } from '../read/keys/service-keys.ts';
import { readFields } from '../read/read.ts';
import { folderOf } from '../repository-path.ts';
import type { VariableLookup } from '../variables.ts';
import { textOf, type YamlMap, type YamlNode, valueAt } from '../yaml/yaml-node.ts';
import { merge, withoutTags } from './merge.ts';
import type { ModelLoader } from './model-loader.ts';

/**
 * Returns the file with every service that has `extends` merged over the one that it names; `below` is the result of
 * earlier files.
 */
export async function extendServices(
  file: YamlMap,
  below: YamlMap | undefined,
  loader: ModelLoader,
  variables: VariableLookup,
): Promise<YamlMap> {
  const services = valueAt(file, 'services');
  if (services?.kind !== 'map') return file;
  const extender = new Extender(loader, variables);
  const known = new Map([...servicesOf(below), ...servicesOf(file)]);
  const own: Services = { file: services.file, services: known, extended: new Map() };
  const entries = [];
  for (const entry of services.entries) {
    entries.push({ ...entry, value: await extender.extend(entry.key, entry.value, own, []) });
  }
  const extended = { ...services, entries };
  return {
    ...file,
    entries: file.entries.map((entry) => (entry.key === 'services' ? { ...entry, value: extended } : entry)),
  };
}

/** The services of one file, which can extend each other. */
interface Services {
  file: string;
  services: ReadonlyMap<string, YamlNode>;
  /** Services that have been extended already. */
  extended: Map<string, YamlNode>;
}

const maxDepth = 32;

class Extender {
  readonly #loader: ModelLoader;
  readonly #variables: VariableLookup;
  /** Caches files, because many services can extend one file. */
  readonly #files = new Map<string, Promise<Services | undefined>>();

  constructor(loader: ModelLoader, variables: VariableLookup) {
    this.#loader = loader;
    this.#variables = variables;
  }

  /** Extends a service. `chain`: the services that extend it, directly or indirectly, as `file#service`. */
  async extend(name: string, service: YamlNode, from: Services, chain: readonly string[]): Promise<YamlNode> {
    const known = from.extended.get(name);
    if (known !== undefined) return known;
    const extended = await this.#merge(name, service, from, chain);
    from.extended.set(name, extended);
    return extended;
  }

  async #merge(name: string, service: YamlNode, from: Services, chain: readonly string[]): Promise<YamlNode> {
    const extended = valueAt(service, 'extends');
    if (service.kind !== 'map' || extended === undefined || extended.tag === 'reset') return service;
    const own: YamlMap = { ...service, entries: service.entries.filter(({ key }) => key !== 'extends') };
    if (this.#loader.budget.exceedsMergedSize) return own;
    const base = await this.#base(extended, name, from, chain);
    if (base === undefined) return own;
    const whole = merge(base, own, ['services', name], this.#loader.problems);
    return this.#loader.budget.takeMerged(whole) ? whole : own;
  }

  /** Returns the service that `extends` names, extended itself; reports and returns undefined if there is none. */
  async #base(node: YamlNode, name: string, from: Services, chain: readonly string[]): Promise<YamlNode | undefined> {
    const { problems } = this.#loader;
    if (node.kind === 'map') readFields(node, extendsKeys, problems);
    const nameNode = node.kind === 'map' ? valueAt(node, 'service') : node;
    const wanted = textOf(nameNode);
    if (wanted === undefined) return problems.error(node, 'must name the service to extend: { service: …, file: … }');
    const fileNode = valueAt(node, 'file');
    const services = fileNode === undefined ? from : await this.#file(fileNode);
    if (services === undefined) return undefined;
    const extending = [...chain, `${from.file}#${name}`];
    const next = `${services.file}#${wanted}`;
    if (extending.includes(next)) {
      const cycle = [...extending.slice(extending.indexOf(next)), next];
      const names = cycle.map((step) => step.slice(step.indexOf('#') + 1));
      return problems.error(node, `the services extend each other (${names.join(' → ')}): remove one extends`);
    }
    if (extending.length > maxDepth)
      return problems.error(node, `more than ${maxDepth} services extend one another: extend fewer`);
    const base = services.services.get(wanted);
    if (base === undefined) return this.#reportMissing(nameNode ?? node, wanted, services);
    const whole = await this.extend(wanted, base, services, extending);
    return withoutTags(whole);
  }

  #reportMissing(at: SourcePosition, wanted: string, { file, services }: Services): undefined {
    const names = [...services.keys()].slice(0, 10).map(quoted).join(', ');
    return this.#loader.problems.error(at, `${file} has no service ${quoted(wanted)}: it has ${names || 'none'}`);
  }

  async #file(node: YamlNode): Promise<Services | undefined> {
    const path = this.#loader.sources.path(node);
    if (path === undefined) return undefined;
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const read = this.#read(path, node);
    this.#files.set(path, read);
    return read;
  }

  async #read(path: string, at: SourcePosition): Promise<Services | undefined> {
    const tree = await this.#loader.file(path, folderOf(path), this.#variables, at);
    return tree === undefined ? undefined : { file: path, services: servicesOf(tree), extended: new Map() };
  }
}

/** Returns the services of a file, by name. */
function servicesOf(tree: YamlNode | undefined): ReadonlyMap<string, YamlNode> {
  const services = valueAt(tree, 'services');
  return new Map(services?.kind === 'map' ? services.entries.map(({ key, value }) => [key, value]) : []);
}
