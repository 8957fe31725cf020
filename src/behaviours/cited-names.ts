/**
 * The run ids, paths and amounts that an answer names, and which of them no result of a tool has: what an answer about
 * the past says must come from the records. Pure.
 */

interface CitedNames {
  readonly ids: readonly string[]
  readonly paths: readonly string[]
  /** Dollars. */
  readonly amounts: readonly number[]
}

export const NO_NAMES: CitedNames = { ids: [], paths: [], amounts: [] }

/** Whole ids, and short ones, which have letters and digits. */
const ID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8}\b/g
const IN_QUOTES = /`([^`\n]{1,200})`/g
const PATH = /(?<![\w/.~-])(?:~?\/|\.{1,2}\/)?(?:[\w.-]+\/)*[\w-][\w.-]*\.[a-zA-Z][a-zA-Z0-9]{0,7}\b(?!\()/g
/** `/etc/hosts`, which has no ending. */
const ABSOLUTE = /(?<![\w/.~:-])~?\/(?:[\w.-]+\/)+[\w.-]*\w/g
const AMOUNT =
  /(?:\$|US\$|USD ?)\s?(\d[\d,]*(?:\.\d+)?)|(?<![\d.])(\d[\d,]*(?:\.\d+)?)\s?(?:USD|US dollars|dollars?|美元|美金)/gi
const CENTS = /(?<![\d.])(\d+(?:\.\d+)?)\s?(?:cents?|美分)/gi
/** Not paths: "e.g.", "i.e.", "1.2". */
const NO_PATH = /^(?:e\.g|i\.e|a\.m|p\.m|u\.s|\d[\d.]*)$/i

export function namesIn(text: string): CitedNames {
  const quoted = [...text.matchAll(IN_QUOTES)].map(([, inner = '']) => inner.trim())
  const files = quoted.filter((inner) => /^\S+\.\w{1,8}$/u.test(inner) || /^\S*\/\S+$/u.test(inner))
  const paths = [...(text.match(PATH) ?? []), ...(text.match(ABSOLUTE) ?? []), ...files]
  return {
    ids: [...new Set(text.match(ID) ?? [])],
    paths: [...new Set(paths)].filter((path) => !NO_PATH.test(path)),
    amounts: [...new Set(amountsIn(text).map(({ usd }) => usd))],
  }
}

interface SaidAmount {
  readonly usd: number
  /** Half of the last decimal that was said. */
  readonly tolerance: number
}

function amountsIn(text: string): readonly SaidAmount[] {
  const read = (digits: string, unit: number): SaidAmount => {
    const plain = digits.replaceAll(',', '')
    const decimals = plain.includes('.') ? plain.length - plain.indexOf('.') - 1 : 0
    return { usd: Number(plain) * unit, tolerance: 0.5 * 10 ** -decimals * unit + 1e-9 }
  }
  return [
    ...[...text.matchAll(AMOUNT)].map(([, before, after]) => read(before ?? after ?? '0', 1)),
    ...[...text.matchAll(CENTS)].map(([, digits = '0']) => read(digits, 0.01)),
  ]
}

/** Contract: the ids, paths and amounts of the answer that are not among the known ones, as the answer writes them. */
export function findUnknownNames(answer: string, known: CitedNames): readonly string[] {
  const { ids, paths } = namesIn(answer)
  const isKnownId = (id: string): boolean => known.ids.some((one) => one === id || one.endsWith(id) || id.endsWith(one))
  const isKnownPath = (path: string): boolean =>
    known.paths.some((one) => one === path || one.endsWith(`/${trimmed(path)}`) || path.endsWith(`/${trimmed(one)}`))
  // $0 is a rounded amount only of less than half a cent.
  const isKnownAmount = ({ usd, tolerance }: SaidAmount): boolean =>
    usd === 0
      ? known.amounts.every((one) => one < 0.005) || known.amounts.includes(0)
      : known.amounts.some((one) => Math.abs(one - usd) <= tolerance)
  return [
    ...ids.filter((id) => !isKnownId(id)),
    ...paths.filter((path) => !isKnownPath(path)),
    ...new Set(amountsIn(answer).flatMap((amount) => (isKnownAmount(amount) ? [] : [`$${amount.usd}`]))),
  ]
}

const trimmed = (path: string): string => path.replace(/^(?:\.?\/)+/, '')

const MAX_NAMES = 1000

/** Contract: both together, each once, up to a limit. */
export function mergeNames(a: CitedNames, b: CitedNames): CitedNames {
  const merge = <T>(one: readonly T[], other: readonly T[]): readonly T[] =>
    [...new Set([...one, ...other])].slice(-MAX_NAMES)
  return { ids: merge(a.ids, b.ids), paths: merge(a.paths, b.paths), amounts: merge(a.amounts, b.amounts) }
}
