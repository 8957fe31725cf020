/**
 * Expands `${NAME}` and `${NAME:-default}` in one text; `$${…}` gives the literal `${…}`. Runs once, after YAML
 * parsing, so that a variable's value can neither add YAML structure nor be expanded again.
 */

export type EnvVariables = Readonly<Record<string, string | undefined>>

export interface Expansion {
  readonly text: string
  /** The variables that the text refers to. */
  readonly names: readonly string[]
  readonly faults: readonly ExpansionFault[]
}

type ExpansionFault =
  | { readonly kind: 'missing'; readonly name: string }
  /** A reference that cannot be parsed. Its text is left out, because it may be a secret that contains `$`. */
  | { readonly kind: 'malformed' }

const REFERENCE = /\$?\$\{(?:([^{}]*)\})?/g
const INSIDE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

export function expandVariables(text: string, variables: EnvVariables): Expansion {
  const names: string[] = []
  const faults: ExpansionFault[] = []
  const expanded = text.replace(REFERENCE, (reference: string, inside: string | undefined) => {
    if (reference.startsWith('$$')) return reference.slice(1)
    const [, name, fallback] = INSIDE.exec(inside ?? '') ?? []
    if (name === undefined) {
      faults.push({ kind: 'malformed' })
      return reference
    }
    names.push(name)
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    // As in a shell, `:-` also replaces a variable that is set but empty.
    if (value !== undefined && (value !== '' || fallback === undefined)) return value
    if (fallback === undefined) faults.push({ kind: 'missing', name })
    return fallback ?? reference
  })
  return { text: expanded, names, faults }
}
