#include "checks.h"
int main(void){return 0;}
