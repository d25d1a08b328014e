// Skills: instructions for some kinds of task. The model sees their names, and loads one when it is of use.

import { basename, dirname } from "node:path";
import { defineTool } from "../tools/base/define-tool.ts";
import { type Tool, ToolError, type Vetoes } from "../tools/base/tool.ts";
import { resolvePath } from "../tools/base/workspace-path.ts";
import { frontMatterOf, lineOf } from "./front-matter.ts";
import {
  type FileOrigin,
  type MarkdownFile,
  markdownFiles,
  namesBeside,
  type Places,
  textNow,
} from "./markdown-files.ts";

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** Of its SKILL.md. */
  readonly path: string;
  readonly origin: FileOrigin;
}

const maxSkills = 100;
/** The list is part of every request. */
const maxDescription = 300;
const maxNamed = 50;

/** By name; of two with one name, that of the project counts, and of the folder closest to the working directory. */
export async function findSkills(places: Places): Promise<Skill[]> {
  const files = await markdownFiles("skills", places, (name) => name === "SKILL.md");
  const skills = files.map(skillOf);
  const byName = new Map(skills.flatMap((skill) => (skill === undefined ? [] : [[skill.name, skill]])));
  return [...byName.values()].slice(0, maxSkills).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Those that the client's rules let be read. */
export async function readableSkills(
  skills: readonly Skill[],
  vetoes: Vetoes | undefined,
): Promise<readonly Skill[]> {
  const ofProject = skills.filter(({ origin }) => origin.isOfProject).flatMap(namesOf);
  const hidden = ofProject.length === 0 ? undefined : await vetoes?.unreadable(ofProject);
  return skills.filter((skill) => !namesOf(skill).some((name) => hidden?.has(name)));
}

/** The folders of the user's own skills, whose files are there to be read. */
export function foldersOutside(skills: readonly Skill[]): string[] {
  return skills.flatMap(({ path, origin }) => (origin.isOfProject ? [] : [dirname(path)]));
}

/** The client's rules hold for its path, and for where that leads. */
export function namesOf({ path, origin }: Pick<Skill, "path" | "origin">): string[] {
  return [...new Set([path, origin.real])];
}

function skillOf({ path, text, origin }: MarkdownFile): Skill | undefined {
  const { fields } = frontMatterOf(text);
  const name = [fields.get("name"), basename(dirname(path))].find(isName);
  const description = lineOf(fields.get("description"), maxDescription);
  // without a description the model cannot know when to use it
  if (name === undefined || description === undefined) return undefined;
  return { name, description, path, origin };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && /^[\w.-]{1,64}$/.test(value);
}

/** A part of the system prompt; empty without skills. */
export function skillsSection(skills: readonly Skill[]): string {
  if (skills.length === 0) return "";
  return [
    "Skills are instructions for certain kinds of tasks. When a task matches one of these, first load it with the skill tool, then follow it:",
    ...skills.map(({ name, description }) => `- ${name}: ${description}`),
  ].join("\n");
}

export function skillTool(skills: readonly Skill[]): Tool {
  return defineTool({
    name: "skill",
    description: "Load the instructions of a skill before you start a task that it matches.",
    isReadOnly: true,
    draft: { title: "Load a skill", kind: "read" },
    aliases: { name: ["skill", "skill_name", "command"] },
    properties: { name: { type: "string", minLength: 1, description: "The name, as listed" } },
    required: ["name"],
    async prepare({ name }, context) {
      const skill = skills.find((each) => each.name === name);
      if (skill === undefined) {
        const names = skills.map((each) => each.name).join(", ");
        throw new ToolError(`there is no skill ${JSON.stringify(name)}; the skills are: ${names}`);
      }
      const { path, origin } = skill;
      const { isOfProject } = origin;
      const paths = isOfProject ? (await resolvePath(context, path)).paths : [];
      return {
        presentation: { title: `Load the skill ${name}`, kind: "read", locations: [{ path }] },
        // the user's own skills are outside of the project, and there to be read
        access: isOfProject ? { type: "read", paths } : { type: "none" },
        run: () => textOfSkill(skill),
      };
    },
  });
}

/** The instructions, where their files are, and which. */
export async function textOfSkill({ name, path, origin }: Skill): Promise<string> {
  const text = await textNow(origin);
  if (text === undefined) throw new ToolError(`the skill ${name} no longer exists: ${path}`);
  const { body } = frontMatterOf(text);
  const beside = await namesBeside(path, origin, maxNamed);
  return [
    `<skill name=${JSON.stringify(name)} folder=${JSON.stringify(dirname(path))}>`,
    body.trim(),
    "</skill>",
    ...(beside.length === 0
      ? []
      : [`Other files of the skill, to read when you need them: ${beside.join(", ")}`]),
  ].join("\n");
}
