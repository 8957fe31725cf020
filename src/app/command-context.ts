/** The plugins that people meet: the commands, the socket by which other processes reach them, and HTTP. */

import { join } from 'node:path'
import { keptCalls, removeKeptCall } from '../adapters/envs/host/leftovers.ts'
import type { Trial } from '../adapters/envs/sandbox/self-test.ts'
import { placePreparer, workspacePreparer } from '../adapters/envs/workspace.ts'
import { newSecret } from '../adapters/ids.ts'
import { currentToken, tokenIn } from '../adapters/token.ts'
import type { Context } from '../commands/command.ts'
import { commandNamed } from '../commands/named.ts'
import type { Config } from '../config.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { describeLoss, LOSS_REMEDY, LOST_COMMITS, type LostCommits } from '../domain/lost-commits.ts'
import { describeUnreadable, SET_ASIDE_REMEDY } from '../domain/unreadable.ts'
import { replay } from '../engine/replay.ts'
import type { Notifier } from '../kernel/notifier.ts'
import { unpairedNote } from '../kernel/target.ts'
import { waitingNotes } from '../kernel/waiting-documents.ts'
import type { Choice } from '../ports/model.ts'
import { definePlugin, type Plugin } from '../ports/plugin.ts'
import { type Store, unlessUnreadable } from '../ports/store.ts'
import { isLoopback } from '../server/access.ts'
import type { HttpServer } from '../server/http.ts'
import { type SocketServer, serveSocket } from '../server/socket.ts'
import { outsideOf } from './closed-home-context.ts'

const execIsOff = (why: string): string =>
  `bash is off, because there is no sandbox that holds (${why}); see \`tireless doctor\`, or set \`sandbox: off\` to let agents run commands as you`

export function commands(): Plugin {
  return definePlugin({
    name: 'commands',
    needs: [
      'home',
      'config',
      'clock',
      'ids',
      'store',
      'bell',
      'models',
      'events',
      'behaviours',
      'engine',
      'queue',
      'kernel',
      'notifier',
      'channels',
      'documents',
      'secrets',
      'skills',
      'mcp',
      'server',
      'sandbox',
      'strays',
    ],
    provides: ['commands'],
    setup(host) {
      const config = host.get('config')
      const { kernel } = config.loaded.config
      const paths = host.get('home')
      const queue = host.get('queue')
      const models = host.get('models')
      const engine = host.get('engine')
      const documents = host.get('documents')
      const sandbox = host.get('sandbox')
      const mcp = host.get('mcp')
      const strays = host.get('strays')
      const { redact } = host.get('secrets')
      const prepare = workspacePreparer(paths.root, paths.workspaces, sandbox.git)
      const place = placePreparer(paths.root, prepare)
      const placeOf = (agentId: string): string | null =>
        config.roster.all().find(({ agent }) => agent.agent_id === agentId)?.agent.workspace ?? null
      const context: Context = {
        ...outsideOf(paths, config.read, host.get('clock'), queue.signals, models),
        ...queue,
        store: host.get('store'),
        documents,
        ids: host.get('ids'),
        bell: host.get('bell'),
        redact,
        hide: host.get('secrets').hide,
        secrets: host.get('secrets').keeper,
        skills: host.get('skills'),
        listen: host.get('events').listen,
        kernelId: kernel.id,
        agents: () => ['default', ...config.roster.all().map(({ agent }) => agent.agent_id)],
        roster: config.roster,
        settings: () => config.loaded.config.kernel,
        timeLimit: () => engine.budget.ms,
        workspace: (sessionId, wanted) =>
          typeof wanted === 'object' ? place(sessionId, placeOf(wanted.agent)) : prepare(sessionId, wanted),
        notices: async () => [
          ...(await lossIn(host.get('store'))),
          ...sandbox.swept,
          ...noticesOf(config.loaded.config, await models.choice()),
          ...waitingNotes(await documents.waiting()).map(({ text }) => text),
        ],
        sandboxNotices: async () => offBy(await sandbox.trial()),
        async refuseWithoutSandbox() {
          const trial = config.loaded.config.sandbox === 'required' ? await sandbox.trial() : undefined
          if (trial?.holds === false)
            throw new TirelessError('sandbox_missing', {
              what: 'sandbox: required, and there is none that holds',
              got: trial.why,
              fix: trial.remedy,
            })
        },
        models,
        mcp,
        kernel: host.get('kernel'),
        notifier: host.get('notifier'),
        channels: host.get('channels').all,
        purse: engine.purse,
        policy: engine.policy,
        configure: config.change,
        breaker: engine.breaker,
        defaultModel: () => models.get().id,
        replay: (dispatch, past, records) => replay(host.get('engine'), dispatch, past, records),
        snapshots: engine.snapshots,
        serve: (how) => host.get('server').serve(context, how),
        calls: {
          kept: () => keptCalls(paths.calls),
          remove: (call) => removeKeptCall(paths.calls, call),
        },
        health: async () => {
          const reasons = [
            ...(await host.get('kernel').ailments()),
            ...queue.damage().map((found) => `the database is damaged: ${found}`),
            ...(await lossIn(host.get('store'))),
            ...sandbox.swept,
            ...unreadableIn(host.get('store')),
            ...engine.breaker
              .refusing()
              .map((provider) => `the provider ${provider} refuses its key: set the right one, then: models test`),
            ...strays.reasons().map(redact),
          ]
          // Looked at now: the edit may be newer than the last cycle.
          await documents.waiting()
          return {
            ok: reasons.length === 0,
            reasons,
            degraded: [
              ...offBy(sandbox.known()),
              ...(await missingBehaviours(host.get('store'), host.get('behaviours').all)),
              ...degradedBy(documents.degraded(), config.refused()),
              ...host
                .get('skills')
                .changes()
                .map(({ text }) => text),
              ...mcp.notes().map(({ text }) => firstLine(text)),
              ...strays.degraded().map(redact),
              ...(await unpairedNotes(host.get('notifier'))),
            ],
          }
        },
      }
      host.provide('commands', context)
    },
  })
}

/** More of those that wait are not looked through. */
const MOST_WAITING = 1000

async function missingBehaviours(store: Store, known: ReadonlyMap<string, unknown>): Promise<string[]> {
  const waiting = await store.dispatches({ status: 'waiting', limit: MOST_WAITING })
  const missing = waiting.flatMap(({ wait }) => (wait?.kind === 'retry' && wait.behaviour ? [wait.behaviour] : []))
  return [...new Set(missing)]
    .filter((name) => !known.has(name))
    .map((name) => {
      const count = missing.filter((each) => each === name).length
      return `${count} parked ${count === 1 ? 'run waits' : 'runs wait'} for the behaviour ${name}, which this program does not have: add it, or cancel them (queue list --status waiting)`
    })
}

const offBy = (trial: Trial | undefined): string[] => (trial?.holds === false ? [execIsOff(trial.why)] : [])

async function lossIn(store: Store): Promise<string[]> {
  const lost = (await unlessUnreadable(store.setting(LOST_COMMITS), null)) as LostCommits | null
  return lost === null ? [] : [`${describeLoss(lost)}. Do this: ${LOSS_REMEDY}`]
}

function unreadableIn(store: Store): string[] {
  const rows = store.skipped()
  return rows.length === 0 ? [] : [`${describeUnreadable(rows)}. Do this: ${SET_ASIDE_REMEDY}`]
}

async function unpairedNotes(notifier: Pick<Notifier, 'unpairedTarget'>): Promise<string[]> {
  const unpaired = await notifier.unpairedTarget()
  if (!unpaired) return []
  const { found, remedy } = unpairedNote(unpaired)
  return [`${found}; ${remedy}`]
}

/** What has changed in a tool is a matter of many lines, for `mcp list`. */
const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

const degradedBy = (documents: string | null, refused: string | null): string[] => [
  ...(documents === null ? [] : [documents]),
  ...(refused === null ? [] : [`the changed configuration is refused, the last good one holds: ${refused}`]),
]

function noticesOf(config: Config, { id, why }: Choice): string[] {
  if (id.startsWith('offline/'))
    return ['no model is configured: the built-in offline model follows simple rules and understands no language']
  return config.models.default === null ? [`the model is ${id} (${why})`] : []
}

/** Started last and stopped first: whoever is reached through it finds everything else running. */
export function socket(): Plugin {
  let server: SocketServer | undefined
  return definePlugin({
    name: 'socket',
    needs: ['home', 'commands'],
    async start(host) {
      server = await serveSocket(host.get('home').socket, commandNamed, host.get('commands'))
    },
    stop: () => server?.close(),
  })
}

/** The page: built beside the sources, and beside the compiled code of the package alike. */
const PAGE = join(import.meta.dirname, '../../web/dist')

/** Set up before the commands, which can have it opened; needs what they need, so that it is stopped before any of that. */
export function server(): Plugin {
  let opened: Promise<HttpServer> | undefined
  return definePlugin({
    name: 'server',
    needs: ['home', 'config', 'events', 'log', 'secrets', 'store', 'bell', 'queue'],
    provides: ['server'],
    setup(host) {
      const { token: file } = host.get('home')
      const { config, sources } = host.get('config').loaded
      const at = config.server
      const isChosen = (sources['server.port'] ?? 'default') !== 'default'
      const log = host.get('log')
      const open = async (context: Context): Promise<HttpServer> => {
        const secrets = host.get('secrets')
        secrets.know('token', tokenIn(file, newSecret))
        const token = (): string | undefined => {
          const now = currentToken(file)
          if (now !== undefined) secrets.know('token', now)
          return now
        }
        // Only whoever serves pays for loading it.
        const [{ serveHttp }, { COMMANDS }] = await Promise.all([
          import('../server/http.ts'),
          import('../commands/all.ts'),
        ])
        const serve = (port: number): Promise<HttpServer> =>
          serveHttp({
            ...{ ...at, port, token, secret: newSecret, commands: COMMANDS, context, page: PAGE },
            failed: ({ code, message }, path) => log.write('error', 'request failed', { path, code, message }),
          })
        // Two homes on one machine: whoever comes second and has asked for no port takes any.
        const http = await serve(at.port).catch((thrown) => {
          if (isChosen || asTirelessError(thrown).code !== 'conflict') throw thrown
          return serve(0)
        })
        host.get('events').add(http.sink)
        log.write('info', 'serving', { url: http.url })
        return http
      }
      host.provide('server', {
        async serve(context, { expose = false } = {}) {
          if (!expose && !isLoopback(at.host))
            throw new TirelessError('usage', {
              what: 'others could reach the page over the network, and whoever has the token is the owner',
              where: 'server.host',
              got: at.host,
              expected: 'an address of this machine alone, such as 127.0.0.1',
              fix: 'start --expose, if that is what you want',
            })
          opened ??= open(context)
          const { url, loopback, loginUrl } = await opened.catch((thrown) => {
            opened = undefined
            throw thrown
          })
          return { url, login_url: loginUrl(), token_file: file, loopback }
        },
      })
    },
    stop: async () => (await opened)?.close(),
  })
}
