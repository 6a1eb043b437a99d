import { codeBlocks } from './code-blocks.ts';

const rules: { pattern: RegExp; why: string }[] = [
  // TypeScript needs the project's own Node; the README only requires Node 20.
  { pattern: /(?<!npx |\/|-)\bnode (?!-)\S+\.ts\b/, why: 'fails on Node 20: write npx node, or name an npm script' },
  // macOS has no -w, and before version 13 no -d.
  { pattern: /\bbase64 -\w+/, why: 'is an option of GNU alone: write base64 --decode, or pipe into tr -d' },
  // The folder also contains programs of the node, one of which is named node.
  { pattern: /PATH=\S*coppice\/bin:\S*PATH/, why: 'hides Node: write PATH=$PATH:$HOME/.cache/coppice/bin' },
];

/** Returns the page's commands that do not run with the README's requirements, and what to write instead. */
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
