// Views that come with the page. Each is text in the words of `url.js`.

/** @type {{ name: string, about: string, needs: string[], text: string }[]} */
export const BUILT_IN = [
  { name: "Overview", about: "Which processes used the CPUs", needs: [], text: "panel processes\nopen processes\nopen cpus" },
  { name: "CPU", about: "Which code used the CPU", needs: ["samples", "switches"], text: "panel flame\nopen processes\nopen cpus\nsort cpu" },
  { name: "Waits", about: "Who waited for whom", needs: ["switches"], text: "panel waits\nopen processes\nsort wait\nmeasure wait" },
  { name: "Disk", about: "Reads and writes of the disks", needs: ["disk"], text: "panel disk\nopen disks\nopen processes" },
  { name: "Memory", about: "Memory and page faults", needs: ["memory", "faults"], text: "panel processes\nopen memory\nopen processes" },
  { name: ".NET", about: "Collections and compiled methods", needs: ["gc", "jit"], text: "panel methods\nopen processes\nopen gc\nopen jit" },
];

/** @type {ViewsOf} */
export function views(session, recording) {
  const own = (session?.views ?? []).map(({ name, text }) => ({ name, text, about: "from the command line" }));
  const fit = BUILT_IN.filter(({ needs }) => needs.length === 0 || needs.some((need) => recording?.has[need]));
  return [...fit.filter(({ name }) => !own.some((one) => one.name === name)), ...own];
}
