/** The plugin that knows every secret there is, and gives them to nobody but whoever needs one. */

import { readFileSync } from 'node:fs'
import { readSecrets, writeSecrets } from '../adapters/secrets.ts'
import type { SecretEntry, SecretKeeper } from '../commands/command.ts'
import { environment, type LoadedConfig, type SecretText, secretsOf } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import { iso } from '../ports/clock.ts'
import type { PluginHost } from '../ports/plugin.ts'
import { isLikely, secretsIn } from '../secrets/looks.ts'
import { Redactor } from '../secrets/redactor.ts'
import { filled, mentionedIn, refuseUnfit } from '../secrets/rules.ts'
import type { SecretService } from './services.ts'

export function createSecretService(host: PluginHost): SecretService {
  const [paths, config, clock] = [host.get('home'), host.get('config'), host.get('clock')]
  let kept = readSecrets(paths.secrets)
  let changes = 0
  const redactor = new Redactor()
  for (const [name, { value }] of Object.entries(kept)) redactor.know(name, value)
  const token = tokenAt(paths.token)
  if (token !== undefined) redactor.know('token', token)
  for (const { name, value } of secretsIn(environment())) learn(redactor, { name, value, kind: 'variable' })

  /** The configuration may change, and with it what is a secret. */
  let learned: LoadedConfig | undefined
  const upToDate = (): Redactor => {
    if (learned !== config.loaded) {
      learned = config.loaded
      for (const text of secretsOf(learned)) learn(redactor, text)
    }
    return redactor
  }

  const change = (next: typeof kept): void => {
    writeSecrets(paths.secrets, next)
    kept = next
    changes += 1
  }
  const entryOf = (name: string): SecretEntry => {
    const { set_at = '', to = [] } = kept[name] ?? {}
    return { name, set_at, to, used_by: usersOf(name, config.loaded) }
  }
  const keeper: SecretKeeper = {
    list: () => Object.keys(kept).toSorted().map(entryOf),
    set(name, value, to) {
      refuseUnfit(name, value)
      const before = Object.hasOwn(kept, name) ? kept[name] : undefined
      // Known before it is anywhere: whatever goes wrong from here on cannot tell it.
      redactor.know(name, value)
      change({ ...kept, [name]: { value, set_at: iso(clock.now()), to: to ?? before?.to ?? [] } })
      return { ...entryOf(name), replaced: before !== undefined }
    },
    remove(name) {
      if (!Object.hasOwn(kept, name)) throw unknown('not_found', name, Object.keys(kept))
      const entry = entryOf(name)
      const { [name]: _, ...others } = kept
      change(others)
      return entry
    },
  }
  return {
    hide: (text) => upToDate().hide(text),
    redact: (text) => upToDate().redact(text),
    cut: (text, most) => upToDate().cut(text, most),
    stream: () => upToDate().stream(),
    know: (name, value) => redactor.know(name, value),
    filled: (text) =>
      filled(text, (name) => {
        if (Object.hasOwn(kept, name)) return kept[name]?.value ?? ''
        throw unknown('config_invalid', name, Object.keys(kept))
      }),
    fill: (text, destinations) =>
      filled(text, (name) => {
        const secret = Object.hasOwn(kept, name) ? kept[name] : undefined
        if (!secret) throw unknown('not_found', name, Object.keys(kept))
        refuseElsewhere(name, secret.to, destinations)
        return secret.value
      }),
    changes: () => changes,
    keeper,
  }
}

/** What its key calls a secret, or is one as likely as not, is hidden everywhere; what may be one, only where nobody but people reads. */
function learn(redactor: Redactor, { name, value, kind }: SecretText): void {
  if (mentionedIn(value).length > 0) return
  if (kind === 'secret') redactor.know(name, value)
  else redactor.guess(value)
  // `Bearer …`, too.
  if (kind !== 'unclear')
    for (const word of [value, ...value.split(/\s+/)]) if (isLikely(word)) redactor.know(name, word)
}

/** A tool goes where a model says, so the owner says where a secret may go. */
function refuseElsewhere(name: string, to: readonly string[], destinations: readonly string[]): void {
  const elsewhere = destinations.filter((destination) => !to.includes(destination.toLowerCase()))
  if (destinations.length > 0 && elsewhere.length === 0) return
  throw new TirelessError('forbidden', {
    what: `the secret ${name} may not go there`,
    got: elsewhere.join(', ') || 'a call that does not say where it goes',
    expected: to.length === 0 ? 'nowhere: its owner has allowed no destination' : to.join(', '),
    fix: `its owner can allow it: tireless secrets set ${name} --to HOST`,
  })
}

function unknown(code: 'not_found' | 'config_invalid', name: string, known: readonly string[]): TirelessError {
  return new TirelessError(code, {
    what: 'there is no secret of that name',
    got: name,
    expected: known.length === 0 ? 'none are set' : `one of ${known.join(', ')}`,
    fix: `tireless secrets set ${name}`,
  })
}

/** Keys of the configuration that name it. */
function usersOf(name: string, { config }: LoadedConfig): readonly string[] {
  const users: string[] = []
  const visit = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (mentionedIn(value).includes(name)) users.push(path)
    } else if (typeof value === 'object' && value !== null)
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`)
  }
  visit({ models: config.models, mcp_servers: config.mcp_servers, channels: config.channels }, '')
  return users
}

function tokenAt(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
