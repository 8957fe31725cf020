/** The configuration as it may be shown: every value with its source, secrets as `(set)`. */

import type { Json } from '../domain/json.ts'
import { formatPath, type KeyPath } from './key-path.ts'

export interface ExplainedValue {
  readonly key: string
  readonly value: Json
  /** `default`, `file:line` or `env:NAME`. */
  readonly source: string
}

interface Leaf {
  readonly path: KeyPath
  readonly value: Json
}

const REDACTED = '(set)'

/** Texts below these keys may be tokens, so all of them count as secrets. */
const SECRET_KEYS = new Set(['api_key', 'secret', 'headers', 'env', 'channels', 'grants', 'ping_url'])
/** Texts below `channels` that are no secrets: redacting `connection` would make other texts unreadable. */
const OPEN_CHANNEL_KEYS = /^channels\.lark\.(?:app_id|domain|mode|chat_id)$/
const SECRET_VARIABLE = /KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL/i
const VARIABLE_NAME = /^[A-Z][A-Z0-9_]*$/
/** Shorter values are words such as `true` or `local`; redacting them would make other texts unreadable. */
const MIN_SECRET_LENGTH = 6

export function redactedValues(config: Json, sources: Readonly<Record<string, string>>): readonly ExplainedValue[] {
  return [...walkLeaves(config, [])].map((leaf) => {
    const key = formatPath(leaf.path)
    const source = sources[key] ?? 'default'
    return { key, value: isSecret(leaf, source) ? REDACTED : withoutCredentials(leaf.value), source }
  })
}

/** A text of the configuration that may be a secret, with its key. */
export interface SecretText {
  readonly name: string
  readonly value: string
  /**
   * `secret`: the key says that it is a secret; `variable`: the value of a header or environment variable, or the
   * password in an address; `unclear`: it may be a secret.
   */
  readonly kind: 'secret' | 'variable' | 'unclear'
}

/** All possible secrets in the configuration, except those behind `api_key_env` and `api_key_file`. */
export function findSecretTexts(config: Json, sources: Readonly<Record<string, string>>): readonly SecretText[] {
  return [...walkLeaves(config, [])].flatMap((leaf) => {
    const name = formatPath(leaf.path)
    const hidden = isSecret(leaf, sources[name] ?? '') ? [leaf.value] : credentialsIn(leaf.value)
    // A password may be an ordinary word, and is then treated as one.
    const kindOfPart = (value: string) => (passwordsIn(leaf.value).includes(value) ? 'variable' : kindOf(leaf.path))
    return hidden.flatMap((value) =>
      typeof value === 'string' && value.length >= MIN_SECRET_LENGTH ? [{ name, value, kind: kindOfPart(value) }] : [],
    )
  })
}

function kindOf(path: KeyPath): SecretText['kind'] {
  const last = String(path.at(-1))
  if (SECRET_VARIABLE.test(last) && !/_(env|file)$/.test(last)) return 'secret'
  return path.some((step) => step === 'headers' || step === 'env') ? 'variable' : 'unclear'
}

function* walkLeaves(value: Json, path: KeyPath): Generator<Leaf> {
  const children = typeof value === 'object' && value !== null ? Object.entries(value) : []
  for (const [name, child] of children)
    if (child !== undefined) yield* walkLeaves(child, [...path, Array.isArray(value) ? Number(name) : name])
  if (children.length === 0) yield { path, value }
}

function isSecret({ path, value }: Leaf, source: string): boolean {
  if (typeof value !== 'string' || value === '') return false
  if (OPEN_CHANNEL_KEYS.test(path.join('.'))) return false
  if (path.some((step) => SECRET_KEYS.has(String(step)))) return true
  if (path[0] === 'plugins' && path[2] === 'options') return true
  if (source.startsWith('env:') && SECRET_VARIABLE.test(source)) return true
  const last = path.at(-1)
  // The user may have written the key itself in place of the variable's name.
  if (last === 'api_key_env' || last === 'secret_env') return !VARIABLE_NAME.test(value)
  // The arguments of a command, but not the program.
  return (path[0] === 'mcp_servers' || path[0] === 'sources') && path.at(-2) === 'command' && last !== 0
}

function withoutCredentials(value: Json): Json {
  if (credentialsIn(value).length === 0) return value
  const { protocol, username, password, host, pathname, search } = new URL(String(value))
  return `${protocol}//${username || password ? `${REDACTED}@` : ''}${host}${pathname}${search && `?${REDACTED}`}`
}

/**
 * The parts of a URL that may be secrets: user, password, query. The user of a database is no token, but often an
 * ordinary word, such as `tireless`; redacting it would make other texts unreadable.
 */
function credentialsIn(value: Json): readonly string[] {
  const url = addressIn(value)
  if (!url) return []
  const user = /^postgres(ql)?:$/.test(url.protocol) ? '' : url.username
  return [user, ...passwordsIn(value), url.search.slice(1)].filter((part) => part !== '')
}

/** As it is written, and as it is meant. */
function passwordsIn(value: Json): readonly string[] {
  const password = addressIn(value)?.password ?? ''
  try {
    return [...new Set([password, decodeURIComponent(password)])]
  } catch {
    return [password]
  }
}

const addressIn = (value: Json): URL | undefined =>
  typeof value === 'string' && /^\w+:\/\//.test(value) && URL.canParse(value) ? new URL(value) : undefined
