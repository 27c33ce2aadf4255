"""List of first names (*John*), which identify a sequence of proper nouns as the name of a person."""

from __future__ import annotations

from spectralnlp_trees.dependencies.words import word_set

# Names that are common in English texts; the list was written for this project and has no source.
GIVEN_NAMES = word_set(
    "aaron abraham adam adrian agnes alan albert alec alex alexander alexandra alexis alfred alice "
    "alison allan allen amanda amy andre andrea andrew andy angela ann anna anne annie anthony antonio "
    "april archibald arnold arthur audrey barack barbara barry beatrice ben benjamin bernard bernie "
    "bertrand beth betty bill billy bob bobby brad brandon brenda brett brian britney bruce bryan "
    "calvin cameron carl carla carlos carol caroline catherine cecil charles charlie charlotte chloe "
    "chris christian christina christine christopher cindy claire clara clark claude colin connie craig "
    "cynthia dale dan daniel danny dave david dean deborah debra denise dennis derek diana diane dick "
    "dolores don donald donna doris dorothy doug douglas duncan dylan earl eddie edgar edith edmund "
    "edward edwin eileen elaine eleanor elena elizabeth ella ellen elliot elon elsie emily emma eric "
    "erica erik ernest ethan eugene eva evan evelyn felix fernando florence frances francis francisco "
    "frank franklin fred frederick friedrich gabriel gail gary gavin gene geoffrey george georgia "
    "gerald gilbert gina ginny giovanni glenn gloria gordon grace graham grant greg gregory gus guy "
    "hannah hans harold harriet harry harvey hazel heather heinrich helen henri henry herbert herman "
    "hillary holly horace howard hugh ian ida igor irene iris isaac isabel isabella ivan jack jackie "
    "jackson jacob jacques jake james jamie jan jane janet janice jared jason jay jean jeanne jeff "
    "jeffrey jen jennifer jenny jeremy jerome jerry jesse jessica jesus jill jim jimmy joan joanna joe "
    "joel johann johannes john johnny jon jonathan jordan jorge jose josé joseph joshua josé joyce juan "
    "judith judy julia julian julie julius justin karen karl kate katherine kathleen kathy katie keith "
    "kelly ken kenneth kevin kim kristen kurt kyle larry laura lauren laurence lawrence lee leo leon "
    "leonard leroy leslie lewis liam lillian linda lisa liz logan lois louis louise luca lucas lucy "
    "luis luke lynn madison malcolm marc marcel marco marcus margaret maria marie marilyn mario marion "
    "mark marsha martha martin marvin mary matt matthew maurice max megan melissa michael michel "
    "michelle miguel mike mildred milton mitchell mohamed mohammed molly monica morgan muhammad nancy "
    "naomi nathan neil nelson nicholas nick nicola nicole niels nina noah noam nora norman oliver "
    "olivia oscar otto owen pablo pamela pat patricia patrick paul paula pauline pedro peggy penny "
    "percy peter phil philip philippe phillip phyllis pierre rachel ralph ray raymond rebecca regina "
    "rené ricardo richard rick rita rob robert roberta roberto robin rodney roger roland ron ronald "
    "rosa rose rosemary ross roy russell ruth ryan sally sam samantha samuel sandra sara sarah saul "
    "scott sean sergei seth shane shannon sharon sheila shirley sidney sigmund simon sofia sonia sophia "
    "sophie spencer stanley stella stephanie stephen steve steven stewart stuart sue susan suzanne "
    "sylvia tammy tara ted teresa terry theodore theresa thomas tiffany tim timothy tina todd tom tommy "
    "tony tracy trevor tyler valerie vanessa vernon veronica vicki victor victoria vincent violet "
    "virginia vladimir walter wanda warren wayne wendy wesley wilhelm will willard william willie "
    "winston woodrow xavier yvonne zachary zoe"
)
