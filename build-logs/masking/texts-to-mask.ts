/** A value that may have to be masked. */
export interface MaskCandidate {
  value: string;
  /** Whether a user marked the value as secret; it is then masked whatever it looks like. */
  secret?: boolean | undefined;
}

const minRandom = 8;
const minLetters = 12;
const minDigits = 16;
const minHex = 16;
/**
 * Minimum number of changes between lower case, upper case, digits and other characters; an initial capital does not
 * count.
 */
const minChanges = 3;
/** Maximum share of common letter pairs in random text: words have more, and random letters about one fifth. */
const randomPairs = 0.4;

/** Minimum length of a random text in base64 for URLs, whose `-` and `_` also separate words. */
const minBase64 = 16;
/** Minimum share of its characters that change as `minChanges` counts; half of those of random bytes do, fewer in names. */
const base64Changes = 0.25;

/** Match the parts of names, addresses, paths, queries and lists that are long enough. */
const words = /[^\s.,:;/@_?=&#-]{8,}/g;
const wordsOfBase64 = /[^\s.,:;/@?=&#]{16,}/g;
/** Matches the password in `scheme://user:password@host`. */
const urlPassword = /^[a-z][a-z\d+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i;

/** The letter pairs that make up most of English words, and of those in other European languages. */
const commonPairs = pairTable(
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ' +
    'ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un ' +
    'lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ' +
    'ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu ' +
    'rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br bi pt ' +
    'ak pu ui rg ib tl ny ki rk ys ob mm fu ph og ms ye ud mb ip ub oi rl gu dr hr cc tw ft wn nu af hu nn eo vo rv nf ' +
    'xp gn sm fl iz ok nl my gl aw ju oa eq sy sl ps jo lf nv je nk kn gs dy hy ze ks xt bs ik dd pm db sq sw zu za zi',
);

/** Returns the texts to mask: values marked as secret, and values that look random. */
export function textsToMask(candidates: readonly MaskCandidate[]): string[] {
  return candidates.flatMap(({ value, secret }) => {
    if (secret === true) return [value];
    const password = passwordOf(value);
    if (password === undefined || !isRandomWord(password)) return isLikelyRandom(value) ? [value] : [];
    return [value, password];
  });
}

function passwordOf(value: string): string | undefined {
  const password = urlPassword.exec(value)?.[1];
  if (password === undefined) return undefined;
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/**
 * Returns whether a value is long and random enough to be a secret that nobody marked. Either it has a part of at least
 * 8 characters that changes 3 times between lower case, upper case, digits and others, of at least 12 letters with few
 * common pairs, or of at least 16 digits; or of at least 16 letters and digits with `-` or `_` in between that change in
 * every fourth place; or it is a number of at least 16 hexadecimal digits, such as a UUID. Words, names, versions,
 * addresses and paths are not random.
 */
export function isLikelyRandom(value: string): boolean {
  const hex = value.trim().replaceAll('-', '');
  if (hex.length >= minHex && /^[\da-f]+$/i.test(hex) && /\d/.test(hex) && /[a-f]/i.test(hex)) return true;
  for (const [word] of value.matchAll(words)) if (isRandomWord(word)) return true;
  if (!/[-_]/.test(value)) return false;
  for (const [text] of value.matchAll(wordsOfBase64)) if (isRandomBase64(text)) return true;
  return false;
}

/** Returns whether a text of letters, digits, `-` and `_` is random bytes in base64 for URLs. */
function isRandomBase64(text: string): boolean {
  const letters = text.replace(/[-_]/g, '');
  if (letters.length < minBase64 || letters.length === text.length) return false;
  const isMixed = [/^[a-z\d]+$/i, /[a-z]/, /[A-Z]/, /\d/].every((pattern) => pattern.test(letters));
  return isMixed && changesIn(letters) >= base64Changes * letters.length;
}

function isRandomWord(word: string): boolean {
  if (word.length < minRandom) return false;
  if (/^\d+$/.test(word)) return word.length >= minDigits;
  if (word.length >= minLetters && /^[a-z]+$/i.test(word) && shareOfCommonPairs(word) < randomPairs) return true;
  return changesIn(word, minChanges) >= minChanges;
}

/** Returns which pairs of letters are in the text, by their two numbers in the alphabet. */
function pairTable(pairs: string): Uint8Array {
  const table = new Uint8Array(26 * 26);
  for (const pair of pairs.split(' ')) table[pairAt(pair, 0)] = 1;
  return table;
}

/** Returns the position of a pair of ASCII letters in such a table. */
function pairAt(word: string, index: number): number {
  return ((word.charCodeAt(index) | 0x20) - 0x61) * 26 + (word.charCodeAt(index + 1) | 0x20) - 0x61;
}

/** @param word ASCII letters only */
function shareOfCommonPairs(word: string): number {
  let common = 0;
  for (let index = 0; index + 1 < word.length; index++) common += commonPairs[pairAt(word, index)] ?? 0;
  return common / (word.length - 1);
}

/** Kinds of characters; 0 means not yet known. */
const small = 1;
const capital = 2;
const digit = 3;
const other = 4;
const knownKinds = new Uint8Array(0x1_0000);

/** Each character is classified once, because values are examined at every reconcile and can be long. */
function kindOf(codePoint: number): number {
  const known = knownKinds[codePoint] ?? 0;
  if (known !== 0) return known;
  const character = String.fromCodePoint(codePoint);
  const letter = /\p{Lu}/u.test(character) ? capital : small;
  const kind = /\d/.test(character) ? digit : /\p{L}/u.test(character) ? letter : other;
  knownKinds[codePoint] = kind;
  return kind;
}

/** Returns the number of changes as `minChanges` counts them, up to `max`. */
function changesIn(word: string, max = Infinity): number {
  let changes = 0;
  let before = 0;
  for (let index = 0; index < word.length && changes < max; index++) {
    const codePoint = word.codePointAt(index) ?? 0;
    if (codePoint > 0xffff) index++;
    const kind = kindOf(codePoint);
    if (before !== 0 && before !== kind && !(before === capital && kind === small)) changes++;
    before = kind;
  }
  return changes;
}
