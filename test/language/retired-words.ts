import { basename } from 'node:path';

/** A word that docs/reference/glossary.md has replaced, where it stands. */
export interface Finding {
  file: string;
  line: number;
  /** The identifier or the phrase as it is written. */
  found: string;
  /** The term to use. */
  use: string;
}

/** Parts of camelCase names and of file names, each with the term to use. */
const parts: readonly (readonly [RegExp, string])[] = [
  [/^fence(d|s)?$/, 'isolation'],
  [/^places?$/, 'quota, slot, position or location'],
  [/^(most|longest)$/, 'max'],
  [/^shortest$/, 'min'],
  [/^turns?$/, 'fair queue, flow or transition'],
  [/^part(y|ies)$/, 'tenant or flow'],
  [/^(told|tell|tells|said|unsaid|untold)$/, 'report, record or set'],
  [/^troubled?s?$/, 'diagnosis or failure'],
  [/^wish(es|ed)?$/, 'follow request'],
  [/^verdicts?$/, 'readiness'],
  [/^parting$/, 'grace period'],
  [/^patience$/, 'timeout'],
  [/^sights?$/, 'page snapshot'],
  [/^(strikes?|struck)$/, 'fault, inject'],
  [/^life$/, 'lifecycle or simulation'],
  [/^throwaways?$/, 'ephemeral'],
  [/^mend(s|ed|ing)?$/, 'fix'],
  [/^(begin|begins|begun|began)$/, 'start, started'],
];

/** Whole names. */
const names: readonly (readonly [RegExp, string])[] = [
  [/^[A-Z]\w+(Parts|Dependencies)$/, 'the suffix Options'],
  [/lookAgain|looksAgain|nextLook/, 'requeue'],
  [/[bB]yHand/, 'manually'],
  [/(^m|[a-z]M)ay(Do|See|Read|Write|Sign|Import)/, 'can, permits'],
];

/** Phrases of comments, messages and documentation. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bfence[ds]?\b/i, 'isolation'],
  [/\bthrowaways?\b/i, 'ephemeral'],
  [/\bverdicts?\b/i, 'readiness'],
  [/\bpatience\b/i, 'timeout'],
  [/\btroubles?\b/i, 'failure, diagnosis'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\b[Bb](egin|egins|egun|egan)\b/, 'start, started'],
  [/\b(told|tells)\b/i, 'report, record, set'],
  [/\bparties\b|\bparty(?! )/i, 'tenant'],
  [/\blook(s|ed|ing)? (at (it |them )?)?again\b/i, 'requeue, reconcile'],
  [/\b(come|comes|came|coming) up\b/i, 'become ready'],
  [/\bstruck\b/i, 'injected'],
  [/\bstrikes?\b/i, 'fault'],
  [/\bsaid\b/i, 'report, record, set'],
  [/\bsigns? of life\b/i, 'keepalive, heartbeat'],
  [/\bmade here\b/i, 'built locally'],
  [
    /\b(tak(e|es|ing)|mov(e|es)|keep|keeps) (its|their) places?\b|\b(its|their) places? (moves?|in the queue)\b/i,
    'position, slot',
  ],
  [/\bmay not (see|read|write|do|view)\b/i, 'cannot'],
  [/\bwhoever may\b/i, 'users who can'],
  [
    /, for (there|they|nobody|nothing|(the|its|their|too) (\w+ )?(?!that\b|which\b)\w+) (is|are|was|were|has|have|had|let|lets|wait|waits|needs?|can|cannot)\b/i,
    'because',
  ],
  [/\bby REST\b/, 'through the REST API'],
  [/\bby hand\b/i, 'manually'],
  [/\bwho may\b/i, 'who can'],
  [/\btakes? turns\b|\bwhose turn\b|\bits turn\b|\btheir turn\b/i, 'fair queue'],
  [/(?<!\bthere[\s*]+)\b(is|are) no (?!longer|more|one|other|need|such|matter)\w/i, 'is not a …'],
  [/(^|[.:;*/#-]\s+)Of (?!course)\w/m, 'a sentence that starts with its subject'],
  [/\banew\b/i, 'again'],
  [/\bbesides\b/i, 'also'],
  [/[«»]/, 'straight quotation marks'],
];

/** Comments, quoted texts and templates of TypeScript, or what lies between them. */
const token =
  /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(,=:[!&|?{};]\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n])+\/[a-z]*|[A-Za-z_$#][\w$]*|[^]/g;

/** Finds the retired words in a file's name and text. Identifiers are checked in TypeScript alone. */
export function retiredWords(file: string, text: string): Finding[] {
  const found = nameFindings(basename(file).replace(/\.[a-z]+$/, '')).map((one) => ({ ...one, file, line: 0 }));
  if (/\.ya?ml$/.test(file)) found.push(...yamlNameFindings(file, text));
  if (!/\.[cm]?tsx?$/.test(file)) return [...found, ...phraseFindings(file, text, 1)];
  let line = 1;
  for (const [piece] of text.matchAll(token)) {
    if (/^['"`]|^\/[/*]/.test(piece)) {
      if (piece.includes(' ')) found.push(...phraseFindings(file, piece.replace(/\$\{[^}\n]*\}/g, '…'), line));
      else if (/^'[A-Za-z][\w-]*'$/.test(piece))
        found.push(...nameFindings(piece.slice(1, -1)).map((one) => ({ ...one, file, line })));
      for (const [expression] of piece.startsWith('`') ? piece.matchAll(/\$\{[^}]*\}/g) : [])
        for (const [name] of expression.matchAll(/[A-Za-z_$][\w$]*/g))
          found.push(...nameFindings(name).map((one) => ({ ...one, file, line })));
    } else if (/^[A-Za-z_$#]/.test(piece)) {
      found.push(...nameFindings(piece).map((one) => ({ ...one, file, line })));
    }
    line += piece.split('\n').length - 1;
  }
  return found;
}

/** Finds retired words in keys, and in values of `name`. */
function yamlNameFindings(file: string, text: string): Finding[] {
  return text.split('\n').flatMap((line, index) => {
    const [, key = '', value = ''] = /^[\s-]*([A-Za-z][\w-]*):(?: +([A-Za-z][\w-]*) *$)?/.exec(line) ?? [];
    const names = key === 'name' ? [value] : [key];
    return names.flatMap((name) => nameFindings(name).map((one) => ({ ...one, file, line: index + 1 })));
  });
}

function nameFindings(name: string): Pick<Finding, 'found' | 'use'>[] {
  const uses = partsOf(name)
    .flatMap((part) => useOf(parts, part))
    .slice(0, 1);
  return [...uses, ...useOf(names, name)].map((use) => ({ found: name, use }));
}

function phraseFindings(file: string, text: string, first: number): Finding[] {
  return phrases.flatMap(([pattern, use]) =>
    [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((match) => ({
      file,
      line: first + text.slice(0, match.index).split('\n').length - 1,
      found: match[0],
      use,
    })),
  );
}

function useOf(table: readonly (readonly [RegExp, string])[], word: string): string[] {
  return table.flatMap(([pattern, use]) => (pattern.test(word) ? [use] : []));
}

/** The words of a camelCase, UPPER_CASE or kebab-case name in lower case. */
function partsOf(name: string): string[] {
  return name
    .replace(/[aA]tMost/, '')
    .split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]/)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase());
}
