/** The completion script for fish. */

import { flagsWithValue, type Verb } from './grammar.ts'

export function fishScript(verbs: readonly Verb[]): string {
  const paths = verbs.filter(({ path }) => path !== '').map(({ path }) => fishQuoted(path))
  return `function __tireless_verbs
  set -l verbs
  set -l skip 0
  set -l words (commandline -opc)
  for word in $words[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    switch $word
      case ${flagsWithValue(verbs).join(' ')}
        set skip 1
      case '-*'
      case '*'
        if contains -- (string join ' ' $verbs $word) ${paths.join(' ')}
          set verbs $verbs $word
        end
    end
  end
  string join ' ' $verbs
end
function __tireless_at
  set -l verbs (__tireless_verbs)
  test "$verbs" = "$argv[1]"
end
${verbs.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, verbs, options, values }: Verb): string[] {
  const line = `complete -c tireless -n ${fishQuoted(`__tireless_at ${fishQuoted(path)}`)}`
  return [
    ...verbs.map(({ name, summary }) => `${line} -f -a ${fishQuoted(name)} -d ${fishQuoted(summary)}`),
    ...(values.length === 0 ? [] : [`${line} -f -a ${fishQuoted(values.join(' '))}`]),
    ...options.map(({ flags, help, takesValue, choices }) => {
      const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
      const value = choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(' '))}` : takesValue ? ' -r' : ''
      return `${line} ${names.join(' ')}${value} -d ${fishQuoted(help)}`
    }),
  ]
}

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
