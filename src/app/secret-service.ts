/** All secrets of the home, configuration and environment: redacts them, and fills them in where they are needed. */

import { readFileSync } from 'node:fs'
import { newSecret } from '../adapters/system/ids.ts'
import { readSecrets, type StoredSecret, type StoredSecrets, writeSecrets } from '../adapters/system/secrets-file.ts'
import type { SecretEntry, SecretVault } from '../commands/lib/secret-vault.ts'
import { environment, type LoadedConfig, type SecretText, secretsInConfig } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import type { HomePaths } from '../home.ts'
import { iso } from '../ports/clock.ts'
import type { PluginHost } from '../ports/plugin.ts'
import { isOrdinaryValue, isStandIn } from '../secrets/ordinary-values.ts'
import { Redactor } from '../secrets/redactor.ts'
import { isLikelySecret, secretsInEnv } from '../secrets/secret-heuristics.ts'
import { checkSecret, fillReferences, referencedSecrets } from '../secrets/secret-refs.ts'
import type { SecretService } from './services.ts'

export function createSecretService(host: PluginHost): SecretService {
  const [paths, config] = [host.get('home'), host.get('config')]
  const stored = new HomeSecrets(paths)
  const redactor = createRedactor(stored, paths.token)
  /** Configuration whose secrets the redactor knows; compared by identity. */
  let learned: LoadedConfig | undefined
  const currentRedactor = (): Redactor => {
    if (learned !== config.loaded) {
      learned = config.loaded
      for (const text of secretsInConfig(learned)) learn(redactor, text)
    }
    return redactor
  }
  return {
    hide: (text) => currentRedactor().redactKnown(text),
    find: (text) => currentRedactor().find(text),
    redact: (text) => currentRedactor().redact(text),
    cut: (text, maxLength) => currentRedactor().redactAndClip(text, maxLength),
    stream: () => currentRedactor().stream(),
    know(name, value) {
      if (!isOrdinaryValue(value)) redactor.addSecret(name, value)
    },
    filled: (text) => fillReferences(text, (name) => stored.get(name, 'config_invalid').value),
    fill: (text, destinations) =>
      fillReferences(text, (name) => {
        const { value, to } = stored.get(name, 'not_found')
        refuseOtherDestinations(name, to, destinations)
        return value
      }),
    changes: () => stored.changes,
    keeper: createVault(host, stored, redactor),
  }
}

/** The secrets in the home's file. */
class HomeSecrets {
  readonly #paths: Pick<HomePaths, 'secrets' | 'secretVersions'>
  #byName: StoredSecrets
  /** Number of changes so far. */
  changes = 0

  constructor(paths: Pick<HomePaths, 'secrets' | 'secretVersions'>) {
    this.#paths = paths
    this.#byName = readSecrets(paths.secrets, paths.secretVersions)
  }

  names(): readonly string[] {
    return Object.keys(this.#byName)
  }

  find(name: string): StoredSecret | undefined {
    return Object.hasOwn(this.#byName, name) ? this.#byName[name] : undefined
  }

  /** Contract: throws an error with the given code if there is no such secret. */
  get(name: string, code: 'not_found' | 'config_invalid'): StoredSecret {
    const secret = this.find(name)
    if (!secret) throw unknownSecret(code, name, this.names())
    return secret
  }

  set(name: string, secret: StoredSecret): void {
    this.#write({ ...this.#byName, [name]: secret })
  }

  remove(name: string): void {
    const { [name]: _, ...others } = this.#byName
    this.#write(others)
  }

  #write(next: StoredSecrets): void {
    writeSecrets(this.#paths.secrets, next, this.#paths.secretVersions)
    this.#byName = next
    this.changes += 1
  }
}

/** Contract: knows the stored secrets, the server's token and the secrets of the environment. */
function createRedactor(stored: HomeSecrets, tokenFile: string): Redactor {
  const token = readToken(tokenFile)
  const redactor = new Redactor(token ?? newSecret())
  for (const name of stored.names()) {
    const { value } = stored.get(name, 'not_found')
    // Earlier versions stored them.
    if (!isStandIn(value)) redactor.addSecret(name, value)
  }
  if (token !== undefined) redactor.addSecret('token', token)
  for (const { name, value } of secretsInEnv(environment())) learn(redactor, { name, value, kind: 'variable' })
  return redactor
}

function createVault(host: PluginHost, stored: HomeSecrets, redactor: Redactor): SecretVault {
  const [config, clock] = [host.get('config'), host.get('clock')]
  const describeSecret = (name: string): SecretEntry => {
    const { set_at = '', to = [] } = stored.find(name) ?? {}
    return { name, set_at, to, used_by: findUses(name, config.loaded) }
  }
  return {
    list: () => stored.names().toSorted().map(describeSecret),
    set(name, value, to) {
      checkSecret(name, value)
      const before = stored.find(name)
      // The redactor learns the value before it is stored: no error from here on may reveal it.
      redactor.addSecret(name, value)
      stored.set(name, { value, set_at: iso(clock.now()), to: to ?? before?.to ?? [] })
      return { ...describeSecret(name), replaced: before !== undefined }
    },
    remove(name) {
      stored.get(name, 'not_found')
      const entry = describeSecret(name)
      stored.remove(name)
      return entry
    },
    ...partSecrets(
      stored,
      redactor,
      () => iso(clock.now()),
      (name) => findUses(name, config.loaded),
    ),
  }
}

/** Secrets that commands store for a part of the configuration. A command touches no other secret. */
function partSecrets(
  stored: HomeSecrets,
  redactor: Redactor,
  now: () => string,
  usesOf: (name: string) => readonly string[],
): Pick<SecretVault, 'nameFor' | 'setFor' | 'removeFor'> {
  const isOf = (part: string, key: string): boolean => key === part || key.startsWith(`${part}.`)
  const namesOf = (part: string): readonly string[] =>
    stored.names().filter((name) => stored.find(name)?.made_for === part)
  return {
    nameFor(part, wanted) {
      const isUsedElsewhere = (name: string): boolean => usesOf(name).some((key) => !isOf(part, key))
      const own = namesOf(part).find((name) => !isUsedElsewhere(name))
      if (own !== undefined) return own
      const numbered = (nth: number): string => (nth === 1 ? wanted : `${wanted}_${nth}`)
      let nth = 1
      while (stored.find(numbered(nth)) !== undefined || isUsedElsewhere(numbered(nth))) nth += 1
      return numbered(nth)
    },
    setFor(part, name, value) {
      checkSecret(name, value)
      const before = stored.find(name)
      if (before !== undefined && before.made_for !== part)
        throw new TirelessError('conflict', { what: 'another secret has this name', got: name, fix: 'run it again' })
      redactor.addSecret(name, value)
      stored.set(name, { value, set_at: now(), to: [], made_for: part })
      return () => (before === undefined ? stored.remove(name) : stored.set(name, before))
    },
    removeFor(part, referred) {
      const removed = namesOf(part).filter((name) => usesOf(name).length === 0)
      for (const name of removed) stored.remove(name)
      return { removed, stays: referred.filter((other) => stored.find(other) !== undefined) }
    },
  }
}

/**
 * Contract: the keys of the configuration whose values are not redacted, because they are ordinary words or too short.
 */
export const unredactedKeys = (loaded: LoadedConfig): readonly string[] => [
  ...new Set(
    secretsInConfig(loaded).flatMap(({ name, value, kind }) =>
      kind === 'secret' && referencedSecrets(value).length === 0 && isOrdinaryValue(value) ? [name] : [],
    ),
  ),
]

/** Certain and likely secrets are redacted everywhere; possible ones only in texts for people. */
function learn(redactor: Redactor, { name, value, kind }: SecretText): void {
  if (referencedSecrets(value).length > 0 || isStandIn(value)) return
  if (kind === 'secret' && isOrdinaryValue(value)) return
  if (kind === 'secret') redactor.addSecret(name, value)
  else redactor.addGuess(value)
  // Single words are learned, too, so that the secret in `Bearer SECRET` is found.
  if (kind !== 'unclear')
    for (const word of [value, ...value.split(/\s+/)]) if (isLikelySecret(word)) redactor.addSecret(name, word)
}

/** The model chooses where a tool sends data, so the owner lists the destinations of each secret. */
function refuseOtherDestinations(name: string, to: readonly string[], destinations: readonly string[]): void {
  const refused = destinations.filter((destination) => !to.includes(destination.toLowerCase()))
  if (destinations.length > 0 && refused.length === 0) return
  throw new TirelessError('forbidden', {
    what: `secret ${name} may not be sent there`,
    got: refused.join(', ') || 'a call without a destination',
    expected: to.length === 0 ? 'no destination is allowed' : to.join(', '),
    fix: `ask the owner to allow it: tireless secrets set ${name} --to HOST`,
  })
}

function unknownSecret(code: 'not_found' | 'config_invalid', name: string, known: readonly string[]): TirelessError {
  return new TirelessError(code, {
    what: 'no such secret',
    got: name,
    expected: known.length === 0 ? 'no secret is set' : `one of ${known.join(', ')}`,
    fix: `run tireless secrets set ${name}`,
  })
}

/** Configuration keys that refer to the secret. */
function findUses(name: string, { config }: LoadedConfig): readonly string[] {
  const keys: string[] = []
  const visit = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (referencedSecrets(value).includes(name)) keys.push(path)
    } else if (typeof value === 'object' && value !== null)
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`)
  }
  visit(config, '')
  return keys
}

function readToken(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
