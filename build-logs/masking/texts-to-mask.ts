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

/** Separators of the parts of names, addresses, paths, queries and lists. */
const separators = /[\s.,:;/@_?=&#-]+/;
const separatorsOfBase64 = /[\s.,:;/@?=&#]+/;
/** Matches the password in `scheme://user:password@host`. */
const urlPassword = /^[a-z][a-z\d+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i;

/** The letter pairs that make up most of English words, and of those in other European languages. */
const commonPairs = new Set(
  (
    'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ' +
    'ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un ' +
    'lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ' +
    'ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu ' +
    'rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br bi pt ' +
    'ak pu ui rg ib tl ny ki rk ys ob mm fu ph og ms ye ud mb ip ub oi rl gu dr hr cc tw ft wn nu af hu nn eo vo rv nf ' +
    'xp gn sm fl iz ok nl my gl aw ju oa eq sy sl ps jo lf nv je nk kn gs dy hy ze ks xt bs ik dd pm db sq sw zu za zi'
  ).split(' '),
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
  return value.split(separators).some(isRandomWord) || value.split(separatorsOfBase64).some(isRandomBase64);
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
  if (/^[a-z]+$/i.test(word) && word.length >= minLetters && shareOfCommonPairs(word) < randomPairs) return true;
  return changesIn(word) >= minChanges;
}

function shareOfCommonPairs(word: string): number {
  const small = word.toLowerCase();
  let common = 0;
  for (let index = 0; index + 1 < small.length; index++) {
    if (commonPairs.has(small.slice(index, index + 2))) common++;
  }
  return common / (small.length - 1);
}

type Kind = 'small' | 'capital' | 'digit' | 'other';

function kindOf(character: string): Kind {
  if (/\d/.test(character)) return 'digit';
  if (/\p{Lu}/u.test(character)) return 'capital';
  return /\p{L}/u.test(character) ? 'small' : 'other';
}

function changesIn(word: string): number {
  const kinds = Array.from(word, kindOf);
  return kinds.filter((kind, index) => {
    const before = kinds[index - 1];
    return before !== undefined && before !== kind && !(before === 'capital' && kind === 'small');
  }).length;
}
