/** The texts that make systemd or launchd run the kernel of a home at login. Pure: nothing is read or written here. */

import { createHash } from 'node:crypto'
import { basename } from 'node:path'

export interface ServiceDefinition {
  readonly home: string
  /** The program and its first arguments; the verb follows. Absolute paths. */
  readonly program: readonly string[]
  readonly configFile: string | undefined
  /** The PATH for the kernel and its tools; service managers have a short one of their own. */
  readonly path: string
  /** File with variables for the kernel, one NAME=value per line; it need not exist. */
  readonly environmentFile: string
  /** Time after which the kernel interrupts running steps when it is stopped. */
  readonly drainMs: number
}

/** What `start` needs beyond its drain deadline: to interrupt steps, write its files and close. */
const CLOSING_MS = 20_000

/** Exit codes after which another start cannot help: wrong use, and another process that holds the home. */
const HOPELESS_EXITS = [2, 75]

/** Contract: a name for this home's service; the default home has the plain one. */
export function serviceName(home: string, defaultHome: string): string {
  if (home === defaultHome) return 'tireless'
  const slug = basename(home)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  const digest = createHash('sha256').update(home).digest('hex').slice(0, 8)
  return ['tireless', slug, digest].filter((part) => part !== '').join('-')
}

const commandLine = ({ program, home, configFile }: ServiceDefinition, ...verb: string[]): string[] => [
  ...[...program, ...verb, '--home', home],
  ...(configFile === undefined ? [] : ['--config', configFile]),
]

const stopSeconds = ({ drainMs }: ServiceDefinition): number => Math.ceil((drainMs + CLOSING_MS) / 1000)

/**
 * A systemd user unit. ExecCondition keeps an invalid configuration from being started again and again: systemd skips
 * the start and says why. The colon keeps systemd from filling in variables.
 */
export function systemdUnit(service: ServiceDefinition): string {
  const line = (...verb: string[]): string => systemdCommand(commandLine(service, ...verb))
  return `# Written by \`tireless service install\`, which also updates it.
[Unit]
Description=${systemdText(`Tireless kernel of ${service.home}`)}
StartLimitIntervalSec=1h
StartLimitBurst=30

[Service]
Type=exec
Environment=${systemdWord(`PATH=${service.path}`)}
EnvironmentFile=-${systemdText(service.environmentFile)}
ExecCondition=${line('config', 'check')}
ExecStart=${line('start')}
Restart=on-failure
RestartSec=10s
RestartPreventExitStatus=${HOPELESS_EXITS.join(' ')}
KillMode=mixed
TimeoutStopSec=${stopSeconds(service)}s
Delegate=yes

[Install]
WantedBy=default.target
`
}

/** systemd refuses quotes and backslashes in the name of a program, though not in arguments. */
function systemdCommand(words: readonly string[]): string {
  const isRefused = /["'\\]/.test(words[0] ?? '')
  return `:${(isRefused ? ['/bin/sh', '-c', 'exec "$@"', 'tireless', ...words] : words).map(systemdWord).join(' ')}`
}

/** ASCII control characters. */
const CONTROL = /(?=\p{ASCII})\p{Cc}/gu

/** One quoted word of a systemd setting: % starts a specifier, \ an escape. */
function systemdWord(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll(CONTROL, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return `"${escaped}"`
}

/** A whole line of a setting that knows no quotes. */
const systemdText = (text: string): string => text.replaceAll('%', '%%').replaceAll(CONTROL, ' ')

/**
 * launchd starts a job again after every exit code but 0, so a shell turns the hopeless ones into 0. It passes SIGTERM
 * on and waits: launchd kills what is left once the shell ends.
 */
export function launchdScript(service: ServiceDefinition): string {
  const line = (...verb: string[]): string =>
    commandLine(service, ...verb)
      .map(shellWord)
      .join(' ')
  const variables = shellWord(service.environmentFile)
  return `if [ -f ${variables} ]; then set -a; . ${variables}; set +a; fi
${line('config', 'check')} >&2 || exit 0
${line('start')} &
kernel=$!
trap 'kill -TERM "$kernel" 2>/dev/null' TERM INT
wait "$kernel"; code=$?
while kill -0 "$kernel" 2>/dev/null; do wait "$kernel"; code=$?; done
case $code in ${HOPELESS_EXITS.join('|')}) exit 0 ;; esac
exit "$code"
`
}

const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A launchd agent of the user. `logFile` receives what the kernel prints. */
export function launchdPlist(label: string, service: ServiceDefinition, logFile: string): string {
  const words = ['/bin/sh', '-c', launchdScript(service)]
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${xmlString(label)}
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    ${xmlString(word)}`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${xmlString(service.path)}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>${stopSeconds(service)}</integer>
  <key>StandardOutPath</key>
  ${xmlString(logFile)}
  <key>StandardErrorPath</key>
  ${xmlString(logFile)}
</dict>
</plist>
`
}

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

const xmlString = (text: string): string => `<string>${text.replaceAll(/[&<>]/g, (char) => XML[char] ?? char)}</string>`
