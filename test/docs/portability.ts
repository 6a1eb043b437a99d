import { codeBlocks } from './code-blocks.ts';

const rules: { pattern: RegExp; why: string }[] = [
  // TypeScript needs the project's own Node; the README asks for Node 20 alone.
  { pattern: /(?<!npx |\/|-)\bnode (?!-)\S+\.ts\b/, why: 'fails on Node 20: write npx node, or name an npm script' },
  // macOS has neither -w nor, before version 13, -d.
  { pattern: /\bbase64 -\w+/, why: 'is an option of GNU alone: write base64 --decode, or pipe into tr -d' },
  // The folder also contains programs of the node, one of which is named node.
  { pattern: /PATH=\S*coppice\/bin:\S*PATH/, why: 'hides Node: write PATH=$PATH:$HOME/.cache/coppice/bin' },
];

/** What of a page's commands does not run on a machine with what the README asks for, and how to write it. */
export function unportableCommands(page: string): string[] {
  const blocks = codeBlocks(page)
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code);
  const spans = [...page.replace(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  const found = [...blocks, ...spans].flatMap((code) =>
    rules.flatMap(({ pattern, why }) => {
      const [command] = pattern.exec(code) ?? [];
      return command === undefined ? [] : [`${command}: ${why}`];
    }),
  );
  const needsJq = blocks.some((code) => /(^|\| *|^ +)jq /m.test(code) && !code.includes('needs jq'));
  return needsJq ? [...found, 'jq: say in the block that it needs jq'] : found;
}
